#ifndef SUPERFLUID_PROTOCOL_MESSAGES_TEXT_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace superfluid::linkw {

// Whether `text` is UTF-8 as Protobuf wants it: no overlong forms, no surrogates, at most U+10FFFF.
bool IsUtf8(std::string_view text);

// `text` with U+FFFD for each byte that is not part of a valid character, and cut to at most
// `max_bytes` between two characters.
std::string ToUtf8(std::string_view text, size_t max_bytes);

// The distribution builds abseil with a string_view of its own; this is the way to it.
inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_TEXT_H_
