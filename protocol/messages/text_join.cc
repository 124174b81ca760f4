#include "protocol/messages/text_join.h"

#include <cstddef>
#include <cstdint>

namespace superfluid::linkw {
namespace {

constexpr size_t kNear = 64;

enum class Writing { kNeutral, kWithBlanks, kWithoutBlanks };

struct Range {
  char32_t first;
  char32_t last;
};
constexpr Range kWithoutBlanks[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x1000, 0x109F},    // Burmese
    {0x1780, 0x17FF},    // Khmer
    {0x19E0, 0x19FF},    // Khmer symbols
    {0x2E80, 0x2FFF},    // radicals
    {0x3000, 0x312F},    // punctuation, kana, bopomofo
    {0x31A0, 0x9FFF},    // more of them, Han
    {0xA9E0, 0xA9FF},    // Burmese
    {0xAA60, 0xAA7F},    // Burmese
    {0xF900, 0xFAFF},    // Han
    {0xFE30, 0xFE4F},    // punctuation
    {0xFF00, 0xFF9F},    // full-width forms
    {0x20000, 0x3FFFF},  // Han
};

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t'; }
bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0U) == 0x80U; }

// The character at the start, which is taken off.
char32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const unsigned length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t character = length == 1 ? first : first & (0xFFU >> (length + 1));
  text.remove_prefix(1);
  for (unsigned i = 1; i < length && !text.empty() && IsContinuation(text[0]); ++i) {
    character = (character << 6U) | (static_cast<uint8_t>(text[0]) & 0x3FU);
    text.remove_prefix(1);
  }
  return character;
}

Writing WritingOf(char32_t c) {
  const char32_t lower = c | 0x20U;
  if (c < 0x80) return lower >= 'a' && lower <= 'z' ? Writing::kWithBlanks : Writing::kNeutral;
  if ((c >= 0xA0 && c <= 0xBF) || (c >= 0x2000 && c <= 0x206F)) return Writing::kNeutral;
  for (const Range& range : kWithoutBlanks) {
    if (c >= range.first && c <= range.last) return Writing::kWithoutBlanks;
  }
  return Writing::kWithBlanks;
}

Writing FirstOf(std::string_view text) {
  while (!text.empty()) {
    const Writing writing = WritingOf(TakeCharacter(text));
    if (writing != Writing::kNeutral) return writing;
  }
  return Writing::kNeutral;
}

Writing LastOf(std::string_view text) {
  Writing last = Writing::kNeutral;
  while (!text.empty()) {
    const Writing writing = WritingOf(TakeCharacter(text));
    if (writing != Writing::kNeutral) last = writing;
  }
  return last;
}

std::string_view Head(std::string_view text) {
  size_t end = text.size() < kNear ? text.size() : kNear;
  while (end < text.size() && IsContinuation(text[end])) ++end;
  return text.substr(0, end);
}

std::string_view Tail(std::string_view text) {
  size_t begin = text.size() < kNear ? 0 : text.size() - kNear;
  while (begin < text.size() && IsContinuation(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace

std::string_view Separator(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty() || IsBlank(left.back()) || IsBlank(right.front())) return "";
  const Writing before = LastOf(Tail(left));
  const Writing after = FirstOf(Head(right));
  if (before == Writing::kWithBlanks || after == Writing::kWithBlanks) return " ";
  return before == after && before == Writing::kNeutral ? " " : "";
}

void AppendPiece(std::string_view piece, std::string& text) {
  text += Separator(text, piece);
  text += piece;
}

}  // namespace superfluid::linkw
