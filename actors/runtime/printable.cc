#include "actors/runtime/printable.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "protocol/messages/text.h"

namespace superfluid {
namespace {

constexpr size_t kReplacementBytes = 3;  // U+FFFD

void AppendControl(unsigned char code, std::string& out) {
  switch (code) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      absl::StrAppend(&out, "\\u", absl::Hex(code, absl::kZeroPad4));
  }
}

// Whether a character of the C1 set begins at `at`: terminals take some for commands.
bool IsC1At(std::string_view text, size_t at) {
  if (text[at] != '\xC2' || at + 1 == text.size()) return false;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return second >= 0x80 && second <= 0x9F;
}

}  // namespace

std::string Printable(std::string_view text) {
  const std::string valid = linkw::ToUtf8(text, text.size() * kReplacementBytes);
  std::string out;
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    if (byte < 0x20 || byte == 0x7F) {
      AppendControl(byte, out);
    } else if (IsC1At(valid, i)) {
      AppendControl(static_cast<unsigned char>(valid[++i]), out);
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += valid[i];
    }
  }
  return out;
}

}  // namespace superfluid
