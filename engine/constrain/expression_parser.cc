#include "engine/constrain/expression_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

using Kind = Expression::Kind;

// Returns the code points of UTF-8 text.
std::u32string CodePoints(absl::string_view text) {
  std::u32string points;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (size_t j = 1; j < length && i + j < text.size(); ++j) {
      code = (code << 6U) | (static_cast<uint8_t>(text[i + j]) & 0x3FU);
    }
    points += std::min(code, kMaxCodePoint);  // of what is no UTF-8, some character
    i += length;
  }
  return points;
}

// Returns the set that \d, \w, \s or its complement names; none for another letter.
CodeRanges NamedSet(char32_t letter) {
  switch (letter) {
    case 'd':
      return {{'0', '9'}};
    case 'w':
      return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    case 's':
      return {{0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
              {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
              {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    case 'D':
    case 'W':
    case 'S':
      return Complement(NamedSet(letter + ('a' - 'A')));
    default:
      return {};
  }
}

bool IsDigit(char32_t c) { return '0' <= c && c <= '9'; }
bool IsLetter(char32_t c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); }

Expression Character(CodeRanges set) {
  Expression one;
  one.kind = Kind::kCharacter;
  one.set = std::move(set);
  return one;
}

}  // namespace

ExpressionParser::ExpressionParser(absl::string_view text, CompileBudget& budget)
    : budget_(budget), text_(CodePoints(text)) {}

Expression ExpressionParser::Parse() {
  Expression whole = ParseChoice();
  if (at_ < text_.size()) FailMalformed("a ')' too many");
  return whole;
}

bool ExpressionParser::Take(char32_t character) {
  if (AtEnd() || text_[at_] != character) return false;
  ++at_;
  return true;
}

void ExpressionParser::FailMalformed(absl::string_view problem) {
  budget_.Fail(BadSchema(absl::StrCat("'pattern': ", problem)));
}

void ExpressionParser::FailUnsupported(absl::string_view feature) {
  budget_.Fail(UnsupportedKeyword("pattern", absl::StrCat(" with ", feature)));
}

Expression ExpressionParser::ParseChoice() {
  if (++depth_ > kMaxDepth) FailMalformed("groups are nested too deep");
  Expression choice;
  choice.kind = Kind::kChoice;
  choice.parts.push_back(ParseSequence());
  while (Take('|')) choice.parts.push_back(ParseSequence());
  --depth_;
  return choice.parts.size() == 1 ? std::move(choice.parts[0]) : choice;
}

Expression ExpressionParser::ParseSequence() {
  Expression sequence;
  while (!AtEnd() && Peek() != '|' && Peek() != ')') {
    Expression part = ParseRepeated();
    if (part.kind != Kind::kSequence) {
      sequence.parts.push_back(std::move(part));
      continue;
    }
    for (Expression& inner : part.parts) sequence.parts.push_back(std::move(inner));
  }
  return sequence;
}

Expression ExpressionParser::ParseRepeated() {
  Expression part = ParseAtom();
  uint32_t min = 0;
  uint32_t max = 0;
  while (budget_.Spend() && TakeQuantifier(min, max)) {
    if (part.kind == Kind::kBegin || part.kind == Kind::kEnd) FailMalformed("an anchor repeated");
    Expression repeat;
    repeat.kind = Kind::kRepeat;
    repeat.min = min;
    repeat.max = max;
    repeat.parts.push_back(std::move(part));
    part = std::move(repeat);
    Take('?');  // A lazy quantifier takes the same texts.
    if (Peek() == '+') FailUnsupported("possessive quantifiers");
    if (Peek() == '*' || Peek() == '?') FailMalformed("nothing to repeat");
  }
  return part;
}

bool ExpressionParser::TakeQuantifier(uint32_t& min, uint32_t& max) {
  if (AtEnd()) return false;
  min = Peek() == '+' ? 1 : 0;
  max = Peek() == '?' ? 1 : Expression::kUnbounded;
  if (Take('*') || Take('+') || Take('?')) return true;
  return Peek() == '{' && IsDigit(Peek(1)) && TakeCounts(min, max);
}

bool ExpressionParser::TakeCounts(uint32_t& min, uint32_t& max) {
  Take('{');
  min = TakeNumber();
  max = min;
  if (Take(',')) max = Peek() == '}' ? Expression::kUnbounded : TakeNumber();
  if (!Take('}') || max < min) FailMalformed("a count that is none");
  return !budget_.failed();
}

uint32_t ExpressionParser::TakeNumber() {
  if (!IsDigit(Peek())) FailMalformed("a count that is none");
  uint32_t number = 0;
  while (IsDigit(Peek())) {
    number = number * 10 + (text_[at_++] - '0');
    if (number <= kMaxCount) continue;
    FailMalformed(absl::StrCat("a count above ", kMaxCount));
    return kMaxCount;
  }
  return number;
}

Expression ExpressionParser::ParseGroup() {
  if (Take('?')) {
    const bool named = Peek() == '<' && Peek(1) != '=' && Peek(1) != '!';
    if (named) {
      while (!AtEnd() && Peek() != '>') ++at_;
    }
    if (!Take(named ? '>' : ':')) FailUnsupported("look-around or flags");
  }
  Expression inner = ParseChoice();
  if (!Take(')')) FailMalformed("a '(' without its ')'");
  return inner;
}

Expression ExpressionParser::ParseAtom() {
  const char32_t c = text_[at_++];
  Expression anchor;
  switch (c) {
    case '(':
      return ParseGroup();
    case '[':
      return ParseClass();
    case '^':
      anchor.kind = Kind::kBegin;
      return anchor;
    case '$':
      anchor.kind = Kind::kEnd;
      return anchor;
    case '.':
      return Character(Complement({{0x0A, 0x0A}, {0x0D, 0x0D}, {0x2028, 0x2029}}));
    case '*':
    case '+':
    case '?':
      FailMalformed("nothing to repeat");
      return anchor;
    case '\\': {
      CodeRanges named = TakeNamedSet();
      if (!named.empty()) return Character(std::move(named));
      const char32_t code = TakeEscape();
      return Character({{code, code}});
    }
    default:
      return Character({{c, c}});
  }
}

CodeRanges ExpressionParser::TakeNamedSet() {
  CodeRanges named = NamedSet(Peek());
  if (!named.empty()) ++at_;
  return named;
}

char32_t ExpressionParser::TakeHex(size_t digits) {
  char32_t code = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char32_t c = Peek();
    const char32_t lower = c | 0x20U;
    const bool letter = 'a' <= lower && lower <= 'f';
    if (!IsDigit(c) && !letter) FailMalformed("an escape that is none");
    code = code * 16 + (IsDigit(c) ? c - '0' : lower - 'a' + 10);
    ++at_;
  }
  return code;
}

// Reads the rest of an escape, behind its backslash.
char32_t ExpressionParser::TakeEscape() {
  if (AtEnd()) FailMalformed("a backslash at the end");
  const char32_t c = Peek();
  ++at_;
  constexpr std::u32string_view kLetters = U"ntrfv0";
  constexpr std::u32string_view kMeanings(U"\n\t\r\f\v\0", 6);
  const size_t known = kLetters.find(c);
  if (known != std::u32string_view::npos) return kMeanings[known];
  if (c == 'x') return TakeHex(2);
  if (c == 'u') {
    const char32_t code = TakeHex(4);
    const bool first_half = 0xD800 <= code && code < 0xDC00;
    if (!first_half || Peek() != '\\' || Peek(1) != 'u') return code;
    at_ += 2;
    const char32_t second = TakeHex(4);
    return 0x10000 + ((code - 0xD800) << 10U) + (second & 0x3FFU);
  }
  if (IsLetter(c) || IsDigit(c)) {
    FailUnsupported(absl::StrCat("'\\", std::string(1, static_cast<char>(c)), "'"));
  }
  return c;
}

// Reads one member of a class; `named` is filled in if it is a set of its own.
char32_t ExpressionParser::TakeSetMember(CodeRanges& named) {
  if (!Take('\\')) return text_[at_++];
  named = TakeNamedSet();
  if (!named.empty()) return 0;
  return Take('b') ? U'\b' : TakeEscape();
}

Expression ExpressionParser::ParseClass() {
  const bool negated = Take('^');
  CodeRanges set;
  while (!AtEnd() && Peek() != ']' && budget_.Spend()) {
    CodeRanges named;
    const char32_t low = TakeSetMember(named);
    if (!named.empty()) {
      set.insert(set.end(), named.begin(), named.end());
      continue;
    }
    char32_t high = low;
    if (Peek() == '-' && at_ + 1 < text_.size() && Peek(1) != ']') {
      ++at_;
      high = TakeSetMember(named);
      if (high < low || !named.empty()) FailMalformed("a range that is none");
    }
    set.emplace_back(low, high);
  }
  if (!Take(']')) FailMalformed("a '[' without its ']'");
  return Character(negated ? Complement(std::move(set)) : std::move(set));
}

}  // namespace superfluid
