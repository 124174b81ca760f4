#include "tools/ctl/plain_text.h"

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

// Where the character that follows `columns` others starts.
size_t OffsetOfColumn(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (IsContinuation(text[at])) continue;
    if (columns == 0) return at;
    --columns;
  }
  return at;
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
  for (const char c : text) columns += IsContinuation(c) ? 0 : 1;
  return columns;
}

std::string LastColumns(std::string_view text, size_t columns) {
  const size_t all = ColumnsOf(text);
  if (all <= columns) return std::string(text);
  return std::string(text.substr(OffsetOfColumn(text, all - columns)));
}

std::string FirstColumns(std::string_view text, size_t columns) {
  return std::string(text.substr(0, OffsetOfColumn(text, columns)));
}

}  // namespace superfluid::ctl
