#ifndef SUPERFLUID_ENGINE_CONSTRAIN_DECIMAL_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_DECIMAL_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace superfluid {

// A number as its decimal digits, so that bounds are compared exactly. Normal form: no zeros in
// front of `whole` ("" is 0) nor behind in `fraction`; zero is not negative.
struct Decimal {
  bool negative = false;
  std::string whole;
  std::string fraction;

  bool IsZero() const { return whole.empty() && fraction.empty(); }
  bool IsInteger() const { return fraction.empty(); }
  friend bool operator==(const Decimal& a, const Decimal& b) = default;
};

inline constexpr int kMaxDecimalExponent = 400;

// Reads a JSON number. Nullopt: more than kMaxDecimalExponent digits before or behind the point.
// REQUIRES: `text` is a JSON number.
std::optional<Decimal> ParseDecimal(absl::string_view text);
// Returns the number without exponent.
std::string DecimalText(const Decimal& value);
// Returns a number below, at or above 0 if `a` is below, equal to or above `b`.
int CompareDecimals(const Decimal& a, const Decimal& b);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_DECIMAL_H_
