#ifndef SUPERFLUID_ENGINE_ABI_SEGMENT_INTAKE_H_
#define SUPERFLUID_ENGINE_ABI_SEGMENT_INTAKE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/transcription.h"

namespace superfluid {

// Copies the segments of one transcription out of a plug-in's memory and makes them keep the
// promises of TranscribedSegment, whatever the plug-in does:
//   0 <= end of the final segment before <= start <= end <= audio read so far,
//   words inside their segment, each starting no earlier than the one before ended,
//   probabilities in [0, 1], no NaN or infinity, valid UTF-8.
// Values that break a promise are moved to the nearest that keeps it.
//
// Threads: one at a time.
class SegmentIntake {
 public:
  // `audio_ms` is the length of the audio read so far, rounded up. Errors: InvalidArgument (null
  // pointers with counts, a struct_size or word_size too small, counts and sizes over the limits of
  // the C interface); the intake is unchanged then.
  absl::StatusOr<TranscribedSegment> Take(const sfl_segment* segment, int64_t audio_ms);

  // Segments that had to be changed.
  uint64_t repaired() const { return repaired_; }

 private:
  int64_t floor_ms_ = 0;
  uint64_t repaired_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_SEGMENT_INTAKE_H_
