#include "tools/ctl/formats/plain_text.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace superfluid::ctl {
namespace {

// Inside a character of several bytes.
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool IsC0OrSpace(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7F;
}

// U+0080 to U+009F are control characters too: some terminals take U+009B for ESC [.
bool IsC1(std::string_view text, size_t at) {
  return text[at] == '\xC2' && at + 1 < text.size() &&
         static_cast<unsigned char>(text[at + 1]) >= 0x80 &&
         static_cast<unsigned char>(text[at + 1]) <= 0x9F;
}

// What the C library knows of characters, whatever the user's language is. Null: there is no such
// locale on this machine.
locale_t Utf8Locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

// One as long as we do not know better.
size_t WidthOf(char32_t character) {
  const locale_t utf8 = Utf8Locale();
  if (character < 0x80 || utf8 == nullptr) return 1;
  const locale_t former = uselocale(utf8);
  const int width = wcwidth(static_cast<wchar_t>(character));
  uselocale(former);
  return width < 0 ? 1 : static_cast<size_t>(width);
}

struct Character {
  size_t bytes = 0;
  size_t columns = 0;
};

// The first of `text`, which is not empty. A byte that begins no character of UTF-8 is one.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  size_t bytes = 1;
  while (bytes < std::min<size_t>(text.size(), 4) && IsContinuation(text[bytes])) ++bytes;
  const size_t announced = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0x80) return {1, 1};
  if (bytes != announced) return {bytes, 1};
  char32_t character = lead & (0xFFU >> (announced + 1));
  for (size_t i = 1; i < bytes; ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {bytes, WidthOf(character)};
}

}  // namespace

std::string OneLine(std::string_view text) {
  std::string line;
  bool gap = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (IsC1(text, at)) {
      gap = true;
      ++at;
      continue;
    }
    if (IsC0OrSpace(text[at])) {
      gap = true;
      continue;
    }
    if (gap && !line.empty()) line.push_back(' ');
    gap = false;
    line.push_back(text[at]);
  }
  return line;
}

size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    columns += first.columns;
    text.remove_prefix(first.bytes);
  }
  return columns;
}

std::string LastColumns(std::string_view text, size_t columns) {
  size_t left = ColumnsOf(text);
  if (left <= columns) return std::string(text);
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    // A combining character whose own was cut off goes too.
    if (left <= columns && first.columns > 0) break;
    left -= first.columns;
    text.remove_prefix(first.bytes);
  }
  return std::string(text);
}

std::string FirstColumns(std::string_view text, size_t columns) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const Character next = FirstCharacter(text.substr(bytes));
    if (next.columns > columns) break;
    columns -= next.columns;
    bytes += next.bytes;
  }
  return std::string(text.substr(0, bytes));
}

}  // namespace superfluid::ctl
