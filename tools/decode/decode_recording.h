#ifndef SUPERFLUID_TOOLS_DECODE_DECODE_RECORDING_H_
#define SUPERFLUID_TOOLS_DECODE_DECODE_RECORDING_H_

#include "tools/decode/decode_message.h"

namespace superfluid::decode {

// Decodes the recording that `input_fd` has, and writes its sound to `pcm_fd` as float, mono,
// 16 kHz. Gives the account of that, errors included; what could be decoded was written before.
// Threads: one, and none is started.
DecodeReport DecodeRecording(int input_fd, int pcm_fd, const DecodeLimits& limits);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODE_RECORDING_H_
