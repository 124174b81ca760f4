#ifndef SUPERFLUID_TOOLS_DECODE_PCM_OUTPUT_H_
#define SUPERFLUID_TOOLS_DECODE_PCM_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/audio/resampler.h"

namespace superfluid::decode {

// Turns decoded frames into engine audio, as the worker does for the recordings that it reads
// itself, and writes it to a pipe, which blocks while the reader has no use for more. Threads: one.
class PcmOutput {
 public:
  // `fd` must outlive it.
  PcmOutput(int fd, uint64_t max_seconds);

  // Takes interleaved frames. Rate and channels may differ from those before. Errors:
  // InvalidArgument (a rate or a number of channels that the worker does not take), OutOfRange
  // (beyond `max_seconds`; what is within has been written), Unavailable (the reader is gone).
  absl::Status Write(absl::Span<const float> interleaved, int rate_hz, int channels);
  absl::Status WriteSilence(double seconds);

  // Writes what is still on its way. Errors: as Write.
  absl::Status Finish();

  // Including what is still on its way.
  double seconds() const;
  uint64_t samples() const { return samples_; }

 private:
  absl::Status Drain();
  absl::Status Send(absl::Span<const float> samples);
  absl::Status EndPart();

  const int fd_;
  const uint64_t max_samples_;
  std::optional<Resampler> resampler_;
  int rate_hz_ = 0;
  int channels_ = 0;
  double finished_seconds_ = 0;  // of the parts before this resampler's
  uint64_t samples_ = 0;         // written
  std::vector<float> block_;
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_PCM_OUTPUT_H_
