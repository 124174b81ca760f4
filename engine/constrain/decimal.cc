#include "engine/constrain/decimal.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

int CompareMagnitudes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -1 : 1;
  const int whole = a.whole.compare(b.whole);
  return whole != 0 ? whole : a.fraction.compare(b.fraction);
}

}  // namespace

std::optional<Decimal> ParseDecimal(absl::string_view text) {
  Decimal result;
  if (!text.empty() && text.front() == '-') {
    result.negative = true;
    text.remove_prefix(1);
  }
  const size_t mark = text.find_first_of("eE");
  int64_t exponent = 0;
  if (mark != absl::string_view::npos) {
    absl::string_view digits = text.substr(mark + 1);
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    if (!absl::SimpleAtoi(digits, &exponent)) return std::nullopt;
    text = text.substr(0, mark);
  }
  const size_t dot = text.find('.');
  std::string digits(text.substr(0, dot));
  auto point = static_cast<int64_t>(digits.size());
  if (dot != absl::string_view::npos) absl::StrAppend(&digits, text.substr(dot + 1));
  if (exponent > kMaxDecimalExponent || exponent < -kMaxDecimalExponent) return std::nullopt;
  point += exponent;
  if (digits.size() > kMaxDecimalExponent || point > kMaxDecimalExponent) return std::nullopt;
  if (point < 0) {
    digits.insert(0, static_cast<size_t>(-point), '0');
    point = 0;
  }
  const auto whole = static_cast<size_t>(point);
  if (digits.size() < whole) digits.resize(whole, '0');
  result.whole = digits.substr(0, whole);
  result.fraction = digits.substr(whole);
  result.whole.erase(0, std::min(result.whole.find_first_not_of('0'), result.whole.size()));
  result.fraction.erase(result.fraction.find_last_not_of('0') + 1);
  if (result.IsZero()) result.negative = false;
  return result;
}

std::string DecimalText(const Decimal& value) {
  return absl::StrCat(value.negative ? "-" : "", value.whole.empty() ? "0" : value.whole,
                      value.fraction.empty() ? "" : ".", value.fraction);
}

int CompareDecimals(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? CompareMagnitudes(b, a) : CompareMagnitudes(a, b);
}

}  // namespace superfluid
