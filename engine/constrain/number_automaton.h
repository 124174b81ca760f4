#ifndef SUPERFLUID_ENGINE_CONSTRAIN_NUMBER_AUTOMATON_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_NUMBER_AUTOMATON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/constrain/byte_automaton.h"
#include "engine/constrain/decimal.h"

namespace superfluid {

// The numbers that a schema allows.
struct NumberRange {
  struct Bound {
    Decimal value;
    bool included = true;
  };
  static constexpr uint32_t kMaxFraction = 15;
  static constexpr uint32_t kMaxDivisor = 5000;

  std::optional<Bound> low;
  std::optional<Bound> high;
  uint32_t fraction = kMaxFraction;  // digits behind the point; 0: integers
  uint64_t divisor = 1;              // of integers: they are multiples of it

  // Raises the lower or lowers the upper bound.
  void AddLow(const Decimal& value, bool included);
  void AddHigh(const Decimal& value, bool included);
  // Returns a text that is equal for equal ranges.
  std::string Key() const;
};

// Makes the automaton of a range: exact for integers of any size; with a fraction at most 15
// digits in all, unless a bound has more, so that reading a number as a double changes no order;
// an exponent of two digits where there is neither bound nor divisor. No -0, no 1.0 for integers,
// no leading zeros. Integers without upper bound have at most 16 digits, or one more than the lower
// bound. Null: no number is in the range, or the budget has failed.
std::shared_ptr<const ByteDfa> NumberDfa(const NumberRange& range, CompileBudget& budget);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_NUMBER_AUTOMATON_H_
