#include "protocol/messages/text.h"

#include <cstdint>

namespace superfluid::linkw {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// How many bytes the character with this first byte has; 0: none starts so.
size_t LengthFrom(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// The second byte's range is narrower after some first bytes: no overlong forms, no surrogates,
// nothing above U+10FFFF.
bool IsSecondOf(unsigned char first, unsigned char second) {
  if (!IsContinuation(second)) return false;
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

// Bytes of the valid character at the start of `text`; 0: there is none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = LengthFrom(byte(0));
  if (length <= 1) return length;
  if (text.size() < length || !IsSecondOf(byte(0), byte(1))) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (!IsContinuation(byte(i))) return 0;
  }
  return length;
}

// Bytes of the longest prefix that is UTF-8.
size_t ValidPrefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CharacterLength(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

}  // namespace

bool IsUtf8(std::string_view text) { return ValidPrefix(text) == text.size(); }

std::string ToUtf8(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes && IsUtf8(text)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const std::string_view character = length == 0 ? kReplacement : text.substr(0, length);
    if (result.size() + character.size() > max_bytes) break;
    result.append(character);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace superfluid::linkw
