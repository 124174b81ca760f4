#include "engine/constrain/character_set.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/constrain/json_document.h"

namespace superfluid {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kLastSurrogate = 0xDFFF;
constexpr char32_t kSpace = 0x20;

std::string Utf8(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<uint8_t>(bits)); };
  const auto tail = [&](unsigned shift) { return byte(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0U | (code >> 6U)), tail(0)};
  if (code < 0x10000) return {byte(0xE0U | (code >> 12U)), tail(6), tail(0)};
  return {byte(0xF0U | (code >> 18U)), tail(12), tail(6), tail(0)};
}

// Adds one path for ranges whose characters differ in whole groups of six bits only, and splits
// others until they do.
class Utf8Paths {
 public:
  Utf8Paths(ByteNfa& nfa, uint32_t from, uint32_t to) : nfa_(nfa), from_(from), to_(to) {}

  void Add(char32_t low, char32_t high) {
    constexpr std::array<char32_t, 3> kLastOfLength = {0x7F, 0x7FF, 0xFFFF};
    for (const char32_t last : kLastOfLength) {
      if (low <= last && last < high) return Split(low, last, high);
    }
    const size_t length = Utf8(low).size();
    for (unsigned group = 1; group < length; ++group) {
      const char32_t mask = (char32_t{1} << (6 * group)) - 1;
      if ((low & ~mask) == (high & ~mask)) continue;
      if ((low & mask) != 0) return Split(low, low | mask, high);
      if ((high & mask) != mask) return Split(low, (high & ~mask) - 1, high);
    }
    AddPath(Utf8(low), Utf8(high));
  }

 private:
  void Split(char32_t low, char32_t middle, char32_t high) {
    Add(low, middle);
    Add(middle + 1, high);
  }

  void AddPath(const std::string& low, const std::string& high) {
    uint32_t at = from_;
    for (size_t i = 0; i < low.size(); ++i) {
      const uint32_t next = i + 1 == low.size() ? to_ : nfa_.AddState(Position::kInside);
      nfa_.AddEdge(at, static_cast<uint8_t>(low[i]), static_cast<uint8_t>(high[i]), next);
      at = next;
    }
  }

  ByteNfa& nfa_;
  const uint32_t from_;
  const uint32_t to_;
};

void AddPlain(ByteNfa& nfa, uint32_t from, char32_t low, char32_t high, uint32_t to) {
  Utf8Paths paths(nfa, from, to);
  const char32_t below = std::min<char32_t>(high, kFirstSurrogate - 1);
  const char32_t above = std::max<char32_t>(low, kLastSurrogate + 1);
  if (low <= below) paths.Add(low, below);
  if (above <= high) paths.Add(above, high);
}

bool NeedsEscape(char32_t code) { return code < kSpace || code == '"' || code == '\\'; }

void AddJson(ByteNfa& nfa, uint32_t from, char32_t low, char32_t high, uint32_t to) {
  char32_t start = low;
  for (char32_t code = low; code <= std::min<char32_t>(high, '\\'); ++code) {
    if (!NeedsEscape(code)) continue;
    if (start < code) AddPlain(nfa, from, start, code - 1, to);
    start = code + 1;
    const std::string quoted = QuotedJson(std::string(1, static_cast<char>(code)));
    nfa.AddBytes(from, absl::string_view(quoted).substr(1, quoted.size() - 2), to);
  }
  if (start <= high) AddPlain(nfa, from, start, high, to);
}

}  // namespace

CodeRanges Complement(CodeRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  CodeRanges others;
  char32_t next = 0;
  for (const auto& [low, high] : ranges) {
    if (low > next) others.emplace_back(next, low - 1);
    next = std::max<char32_t>(next, high + 1);
  }
  if (next <= kMaxCodePoint) others.emplace_back(next, kMaxCodePoint);
  return others;
}

void AddCharacters(ByteNfa& nfa, uint32_t from, const CodeRanges& set, uint32_t to,
                   Spelling spelling) {
  for (const auto& [low, high] : set) {
    if (spelling == Spelling::kPlain) {
      AddPlain(nfa, from, low, high, to);
    } else {
      AddJson(nfa, from, low, high, to);
    }
  }
}

}  // namespace superfluid
