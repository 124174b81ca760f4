#ifndef SUPERFLUID_ENGINE_SIM_SIM_SEGMENTS_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SEGMENTS_H_

#include <cstdint>

#include "engine/sim/sim_options.h"
#include "engine/transcription.h"

namespace superfluid {

// One stretch of audio that the sim engine has "heard".
struct SimStretch {
  int64_t index = 0;  // of the segment, from 0
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  uint64_t seed = 0;  // the fingerprint of its samples
};

// The segment that stands for `stretch`: its text comes from the script, or else from the samples;
// its words share the time evenly. A pure function: the same stretch gives the same segment.
TranscribedSegment MakeSimSegment(const SimOptions& options, const SimStretch& stretch,
                                  bool with_words, bool partial);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SEGMENTS_H_
