#ifndef SUPERFLUID_ENGINE_CONSTRAIN_EXPRESSION_PARSER_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_EXPRESSION_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/constrain/character_set.h"
#include "engine/constrain/compile_budget.h"

namespace superfluid {

// A part of a regular expression.
struct Expression {
  enum class Kind : uint8_t { kCharacter, kSequence, kChoice, kRepeat, kBegin, kEnd };
  static constexpr uint32_t kUnbounded = UINT32_MAX;

  Kind kind = Kind::kSequence;
  CodeRanges set;                 // of a character
  std::vector<Expression> parts;  // of a repeat one
  uint32_t min = 0;
  uint32_t max = 0;
};

// Reads one regular expression (regular_expression.h). Recurses as deep as groups are nested, at
// most kMaxDepth. Lifetime: the budget outlives it.
class ExpressionParser {
 public:
  static constexpr size_t kMaxDepth = 60;
  static constexpr uint32_t kMaxCount = 100'000;

  ExpressionParser(absl::string_view text, CompileBudget& budget);

  // After a failure of the budget the result has no meaning.
  Expression Parse();

 private:
  Expression ParseChoice();
  Expression ParseSequence();
  Expression ParseRepeated();
  Expression ParseAtom();
  Expression ParseGroup();
  Expression ParseClass();
  bool TakeQuantifier(uint32_t& min, uint32_t& max);
  bool TakeCounts(uint32_t& min, uint32_t& max);
  uint32_t TakeNumber();
  CodeRanges TakeNamedSet();
  char32_t TakeEscape();
  char32_t TakeHex(size_t digits);
  char32_t TakeSetMember(CodeRanges& named);

  bool AtEnd() const { return at_ >= text_.size() || budget_.failed(); }
  char32_t Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : U'\0';
  }
  bool Take(char32_t character);
  void FailMalformed(absl::string_view problem);
  void FailUnsupported(absl::string_view feature);

  CompileBudget& budget_;
  std::u32string text_;
  size_t at_ = 0;
  size_t depth_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_EXPRESSION_PARSER_H_
