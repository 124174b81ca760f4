#ifndef SUPERFLUID_TOOLS_DECODE_FRAME_SAMPLES_H_
#define SUPERFLUID_TOOLS_DECODE_FRAME_SAMPLES_H_

#include <vector>

#include "absl/types/span.h"

struct AVFrame;

namespace superfluid::decode {

// Turns the samples of a decoded frame, whatever their format and layout, into interleaved floats
// of [-1, 1] in `samples`, replacing what was there. False for a format that no decoder of audio
// gives.
bool InterleaveFrame(const AVFrame& frame, std::vector<float>& samples);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_FRAME_SAMPLES_H_
