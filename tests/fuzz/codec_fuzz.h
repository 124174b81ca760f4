#ifndef SUPERFLUID_TESTS_FUZZ_CODEC_FUZZ_H_
#define SUPERFLUID_TESTS_FUZZ_CODEC_FUZZ_H_

#include <string_view>

#include "protocol/messages/message_type.h"

namespace superfluid::fuzz {

// Parses `payload` as a message of `type`, for both sides. Aborts if what was accepted does not
// come back the same from its own wire form, or if an error is not one that codec.h names.
void FuzzCodecOf(linkw::MessageType type, std::string_view payload);

// The same for bytes whose first two say the type.
void FuzzCodec(std::string_view bytes);

}  // namespace superfluid::fuzz

#endif  // SUPERFLUID_TESTS_FUZZ_CODEC_FUZZ_H_
