#ifndef SUPERFLUID_TOOLS_DECODE_AV_ERROR_H_
#define SUPERFLUID_TOOLS_DECODE_AV_ERROR_H_

#include <string>

#include "tools/decode/decode_message.h"

namespace superfluid::decode {

// Why a recording cannot be decoded, or not all of it.
struct DecodeError {
  DecodeOutcome outcome = DecodeOutcome::kInternal;
  std::string text;
};

// What libav's error `code` means for a recording: kOutOfMemory for a failed allocation, kTooLarge
// for AvInput's limit, else kDamaged; the text begins with `doing`.
DecodeError ErrorOf(int code, const std::string& doing);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_AV_ERROR_H_
