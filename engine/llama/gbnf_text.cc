#include "engine/llama/gbnf_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/llama/free_text.h"

namespace superfluid {
namespace {

// The texts as characters, of which a range [first, last) is written.
using Texts = std::vector<std::u32string>;

std::string Utf8(char32_t c) {
  const auto tail = [c](unsigned shift) {
    return static_cast<char>(0x80U | ((static_cast<uint32_t>(c) >> shift) & 0x3FU));
  };
  const auto lead = [c](unsigned mark, unsigned shift) {
    return static_cast<char>(mark | (static_cast<uint32_t>(c) >> shift));
  };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {lead(0xC0, 6), tail(0)};
  if (c < 0x10000) return {lead(0xE0, 12), tail(6), tail(0)};
  return {lead(0xF0, 18), tail(12), tail(6), tail(0)};
}

std::string Literal(const std::u32string& text) {
  std::string bytes;
  for (const char32_t c : text) bytes += Utf8(c);
  return GbnfLiteral(bytes);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as texts begin each other
void WriteChoice(const Texts& texts, size_t first, size_t last, size_t from, GbnfChoice& out) {
  const std::u32string& shortest = texts[first];
  const std::u32string& other = texts[last - 1];  // sorted: what these two share all do
  size_t common = from;
  while (common < std::min(shortest.size(), other.size()) && shortest[common] == other[common]) {
    ++common;
  }
  if (common > from) absl::StrAppend(&out.text, Literal(shortest.substr(from, common - from)), " ");
  if (last - first == 1) return;
  const bool may_end = shortest.size() == common;
  out.text += "(";
  size_t branches = 0;
  for (size_t i = first + (may_end ? 1 : 0); i < last; ++branches) {
    size_t end = i + 1;
    while (end < last && texts[end][common] == texts[i][common]) ++end;
    if (branches > 0) out.text += "| ";
    WriteChoice(texts, i, end, common, out);
    i = end;
  }
  out.text += may_end ? "| ) " : ") ";
  out.widest = std::max(out.widest, branches + (may_end ? 1 : 0));
}

std::string Digits(size_t count) { return absl::StrCat("[0-9]{", count, "}"); }

std::string Range(char from, char to) {
  if (from == to) return {'"', from, '"'};
  return {'[', from, '-', to, ']'};
}

bool IsAll(absl::string_view text, char c) {
  return text.find_first_not_of(c) == absl::string_view::npos;
}

// An expression of the numbers of as many digits, leading zeros included.
// NOLINTNEXTLINE(misc-no-recursion): as deep as there are digits
std::string SameLength(absl::string_view from, absl::string_view to) {
  if (from == to) return absl::StrCat("\"", from, "\"");
  if (from.size() == 1) return Range(from[0], to[0]);
  const absl::string_view low = from.substr(1);
  const absl::string_view high = to.substr(1);
  if (from[0] == to[0]) return absl::StrCat("\"", from.substr(0, 1), "\" ", SameLength(low, high));
  const std::string zeros(low.size(), '0');
  const std::string nines(low.size(), '9');
  char first = from[0];
  char last = to[0];
  std::vector<std::string> parts;
  if (!IsAll(low, '0')) {
    parts.push_back(absl::StrCat(Range(first, first), " ", SameLength(low, nines)));
    ++first;
  }
  std::string end;
  if (!IsAll(high, '9')) {
    end = absl::StrCat(Range(last, last), " ", SameLength(zeros, high));
    --last;
  }
  if (first <= last) parts.push_back(absl::StrCat(Range(first, last), " ", Digits(low.size())));
  if (!end.empty()) parts.push_back(end);
  std::string text;
  for (const std::string& part : parts) absl::StrAppend(&text, text.empty() ? "" : " | ", part);
  return absl::StrCat("(", text, ")");
}

// Appends the alternatives, each with " | " behind.
void AppendMagnitudes(uint64_t low, uint64_t high, const char* sign, std::string& out) {
  const std::string from = absl::StrCat(low);
  const std::string to = absl::StrCat(high);
  for (size_t length = from.size(); length <= to.size(); ++length) {
    const std::string least = length == from.size() ? from : "1" + std::string(length - 1, '0');
    const std::string most = length == to.size() ? to : std::string(length, '9');
    absl::StrAppend(&out, sign, SameLength(least, most), " | ");
  }
}

}  // namespace

std::string GbnfLiteral(absl::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      literal += '\\';
      literal += c;
    } else if (byte < 0x20) {
      absl::StrAppend(&literal, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

GbnfChoice GbnfOneOf(const std::vector<std::string>& texts) {
  Texts characters;
  for (const std::string& text : texts) characters.push_back(CodePoints(text));
  GbnfChoice choice;
  WriteChoice(characters, 0, characters.size(), 0, choice);
  return choice;
}

std::string GbnfIntegers(int64_t least, int64_t most) {
  const auto magnitude = [](int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  };
  std::string out;
  if (least < 0) {
    AppendMagnitudes(most < 0 ? magnitude(most) : 1, magnitude(least), "\"-\" ", out);
  }
  if (most >= 0) AppendMagnitudes(least < 0 ? 0 : magnitude(least), magnitude(most), "", out);
  return out.substr(0, out.size() - 3);
}

}  // namespace superfluid
