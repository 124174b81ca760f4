#include "engine/audio/printable_name.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr size_t kMaxBytes = 200;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the well-formed UTF-8 sequence at the front of `text`; 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  size_t length = 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool out_of_range = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || out_of_range ? 0 : length;
}

}  // namespace

std::string PrintableName(std::string_view name) {
  std::string quoted = "\"";
  size_t i = 0;
  while (i < name.size() && quoted.size() < kMaxBytes) {
    const size_t length = SequenceLength(name.substr(i));
    const auto byte = static_cast<unsigned char>(name[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      absl::StrAppend(&quoted, "\\x", absl::Hex(byte, absl::kZeroPad2));
      ++i;
    } else {
      quoted.append(name.substr(i, length));
      i += length;
    }
  }
  quoted += i < name.size() ? "...\"" : "\"";
  return quoted;
}

}  // namespace superfluid
