#include "engine/abi/text.h"

#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0U) == 0x80U; }

// The range that the second byte must lie in after `lead`; excludes overlong forms, surrogates and
// what is above U+10FFFF.
bool SecondByteFits(uint8_t lead, uint8_t second) {
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return low <= second && second <= high;
}

size_t LengthForLead(uint8_t lead) {
  if (lead >= 0x01 && lead <= 0x7F) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The length of the well-formed character at the front of `text`; 0 if there is none.
size_t CharacterLength(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = LengthForLead(lead);
  if (length == 0 || length > text.size()) return 0;
  if (length > 1 && !SecondByteFits(lead, static_cast<uint8_t>(text[1]))) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return length;
}

}  // namespace

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      valid.append(kReplacement.data(), kReplacement.size());
      text.remove_prefix(1);
    } else {
      valid.append(text.data(), length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

absl::StatusOr<std::string> CopyText(sfl_string text, size_t max_bytes) {
  if (text.size == 0) return std::string();
  if (text.data == nullptr) return absl::InvalidArgumentError("a text is NULL but has a size");
  if (text.size > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a text has ", text.size, " bytes; the limit is ", max_bytes));
  }
  return ValidUtf8(absl::string_view(text.data, text.size));
}

absl::string_view TextOfArray(const char* array, size_t capacity) {
  return absl::string_view(array, strnlen(array, capacity));
}

}  // namespace superfluid
