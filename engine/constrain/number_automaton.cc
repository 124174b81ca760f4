#include "engine/constrain/number_automaton.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

using Bound = NumberRange::Bound;

constexpr size_t kDigitsOfFree = 16;  // of an integer without upper bound

// Adds the numbers from `low` to `high`, both not negative. A state of it knows the length of the
// integer part, how many digits were read, and whether all of them were those of a bound.
class MagnitudePaths {
 public:
  MagnitudePaths(ByteNfa& nfa, uint32_t accept, Bound low, std::optional<Bound> high,
                 uint32_t fraction, bool exponent)
      : nfa_(nfa),
        accept_(accept),
        low_(std::move(low)),
        high_(std::move(high)),
        low_whole_(low_.value.whole.empty() ? "0" : low_.value.whole),
        fraction_(fraction),
        exponent_(exponent) {
    if (high_.has_value()) high_whole_ = high_->value.whole.empty() ? "0" : high_->value.whole;
  }

  void Add(uint32_t from) {
    const size_t longest =
        high_.has_value() ? high_whole_.size() : std::max(kDigitsOfFree, low_whole_.size() + 1);
    for (size_t length = low_whole_.size(); length <= longest; ++length) {
      nfa_.AddEmpty(from, StateOf({static_cast<uint32_t>(length), 0, 0, length == low_whole_.size(),
                                   high_.has_value() && length == high_whole_.size()}));
    }
    while (!work_.empty() && !nfa_.budget().failed()) {
      const Place place = work_.back();
      work_.pop_back();
      if (place.read < place.length) {
        AddWholeDigit(place);
      } else {
        AddFraction(place);
      }
    }
  }

 private:
  struct Place {
    uint32_t length = 0;
    uint32_t read = 0;
    uint32_t fraction = 0;  // digits of it + 1; 0: in the integer part
    bool at_low = false;
    bool at_high = false;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  uint32_t StateOf(const Place& place) {
    const auto [at, fresh] = states_.try_emplace(place, 0);
    if (fresh) {
      at->second = nfa_.AddState();
      work_.push_back(place);
    }
    return at->second;
  }

  void AddWholeDigit(const Place& place) {
    const uint32_t from = states_.at(place);
    const char free = place.read == 0 && place.length > 1 ? '1' : '0';
    const char first = place.at_low ? low_whole_[place.read] : free;
    const char last = place.at_high ? high_whole_[place.read] : '9';
    for (char digit = first; digit <= last; ++digit) {
      nfa_.AddEdge(from, digit,
                   StateOf({place.length, place.read + 1, 0, place.at_low && digit == first,
                            place.at_high && digit == last}));
    }
  }

  bool MayEnd(const Place& place) const {
    const size_t digits = place.fraction == 0 ? 0 : place.fraction - 1;
    if (place.fraction == 1) return false;
    if (place.at_low && (digits < low_.value.fraction.size() || !low_.included)) return false;
    return !place.at_high || digits < high_->value.fraction.size() || high_->included;
  }

  void AddFraction(const Place& place) {
    const uint32_t from = states_.at(place);
    if (MayEnd(place)) {
      nfa_.AddEmpty(from, accept_);
      if (exponent_) AddExponent(from);
    }
    if (place.fraction == 0) {
      if (fraction_ > 0) {
        nfa_.AddEdge(from, '.',
                     StateOf({place.length, place.read, 1, place.at_low, place.at_high}));
      }
      return;
    }
    const size_t digits = place.fraction - 1;
    if (digits >= FractionLimit(place.length)) return;
    const char first = place.at_low ? DigitAt(low_.value.fraction, digits) : '0';
    const char last = place.at_high ? DigitAt(high_->value.fraction, digits) : '9';
    for (char digit = first; digit <= last; ++digit) {
      nfa_.AddEdge(from, digit,
                   StateOf({place.length, place.read, place.fraction + 1,
                            place.at_low && digit == first, place.at_high && digit == last}));
    }
  }

  size_t FractionLimit(size_t length) const {
    constexpr size_t kMax = NumberRange::kMaxFraction;
    if (fraction_ != kMax) return fraction_;
    if (length >= kMax) return 1;
    const size_t of_bounds = std::max(low_.value.fraction.size(),
                                      high_.has_value() ? high_->value.fraction.size() : size_t{0});
    return of_bounds < kMax ? kMax - length : kMax;
  }

  static char DigitAt(const std::string& digits, size_t i) {
    return i < digits.size() ? digits[i] : '0';
  }

  void AddExponent(uint32_t from) {
    const uint32_t mark = nfa_.AddState();
    const uint32_t sign = nfa_.AddState();
    const uint32_t one = nfa_.AddState();
    nfa_.AddEdge(from, 'e', mark);
    nfa_.AddEdge(from, 'E', mark);
    nfa_.AddEmpty(mark, sign);
    nfa_.AddEdge(mark, '+', sign);
    nfa_.AddEdge(mark, '-', sign);
    nfa_.AddEdge(sign, '0', '9', one);
    nfa_.AddEmpty(one, accept_);
    nfa_.AddEdge(one, '0', '9', accept_);
  }

  ByteNfa& nfa_;
  const uint32_t accept_;
  const Bound low_;
  const std::optional<Bound> high_;
  const std::string low_whole_;
  std::string high_whole_;
  const uint32_t fraction_;
  const bool exponent_;
  std::map<Place, uint32_t> states_;
  std::vector<Place> work_;
};

// Makes the automaton of digits and signs whose remainder is 0.
std::optional<ByteDfa> MultiplesDfa(uint64_t divisor, CompileBudget& budget) {
  ByteDfa::Table table;
  table.class_count = 12;
  for (char digit = '0'; digit <= '9'; ++digit) {
    table.classes.at(static_cast<uint8_t>(digit)) = static_cast<uint8_t>(digit - '0' + 1);
  }
  table.classes.at('-') = 11;
  for (uint64_t rest = 0; rest < divisor; ++rest) {
    table.next.push_back(ByteDfa::kNone);
    for (uint64_t digit = 0; digit < 10; ++digit) {
      table.next.push_back(static_cast<int32_t>((rest * 10 + digit) % divisor));
    }
    table.next.push_back(static_cast<int32_t>(rest));
    table.accepts.push_back(rest == 0);
    table.inside.push_back(false);
  }
  return ByteDfa::Make(std::move(table), budget);
}

Bound Negated(Bound bound) {
  bound.value.negative = !bound.value.negative && !bound.value.IsZero();
  return bound;
}

std::optional<ByteDfa> MakeNumberDfa(const NumberRange& range, CompileBudget& budget) {
  const Decimal zero;
  ByteNfa nfa(budget);
  const uint32_t start = nfa.AddState();
  const uint32_t accept = nfa.AddState();
  const uint32_t minus = nfa.AddState();
  nfa.AddEdge(start, '-', minus);
  const bool exponent = range.fraction == NumberRange::kMaxFraction && !range.low && !range.high;
  if (!range.high || !range.high->value.negative) {
    const bool positive = range.low && !range.low->value.negative;
    MagnitudePaths(nfa, accept, positive ? *range.low : Bound{}, range.high, range.fraction,
                   exponent)
        .Add(start);
  }
  if (!range.low || range.low->value.negative) {
    // Mirrored: from the upper bound, or above 0, to the lower one.
    const bool below = range.high && range.high->value.negative;
    MagnitudePaths(nfa, accept, below ? Negated(*range.high) : Bound{zero, false},
                   range.low ? std::optional<Bound>(Negated(*range.low)) : std::nullopt,
                   range.fraction, exponent)
        .Add(minus);
  }
  std::optional<ByteDfa> dfa = Determinise(nfa, start, accept);
  if (!dfa.has_value() || range.divisor == 1) return dfa;
  const std::optional<ByteDfa> multiples = MultiplesDfa(range.divisor, budget);
  return multiples.has_value() ? Intersect(*dfa, *multiples, budget) : std::nullopt;
}

// Returns the automaton of all integers or numbers, which is made once.
std::shared_ptr<const ByteDfa> FreeNumberDfa(uint32_t fraction) {
  static const std::array<std::shared_ptr<const ByteDfa>, 2> made = [] {
    const CallControl control;
    CompileBudget budget(control);
    NumberRange integers;
    integers.fraction = 0;
    return std::array<std::shared_ptr<const ByteDfa>, 2>{
        std::make_shared<const ByteDfa>(*MakeNumberDfa(integers, budget)),
        std::make_shared<const ByteDfa>(*MakeNumberDfa(NumberRange(), budget))};
  }();
  return made.at(fraction == 0 ? 0 : 1);
}

}  // namespace

void NumberRange::AddLow(const Decimal& value, bool included) {
  const int order = low.has_value() ? CompareDecimals(value, low->value) : 1;
  if (order > 0 || (order == 0 && !included)) low = Bound{value, included};
}

void NumberRange::AddHigh(const Decimal& value, bool included) {
  const int order = high.has_value() ? CompareDecimals(value, high->value) : -1;
  if (order < 0 || (order == 0 && !included)) high = Bound{value, included};
}

std::string NumberRange::Key() const {
  const auto text = [](const std::optional<Bound>& bound) {
    if (!bound.has_value()) return std::string("-");
    return absl::StrCat(bound->included ? "=" : "<", DecimalText(bound->value));
  };
  return absl::StrCat(text(low), ",", text(high), ",", fraction, ",", divisor);
}

std::shared_ptr<const ByteDfa> NumberDfa(const NumberRange& range, CompileBudget& budget) {
  const bool common = range.fraction == 0 || range.fraction == NumberRange::kMaxFraction;
  if (!range.low && !range.high && range.divisor == 1 && common) {
    return FreeNumberDfa(range.fraction);
  }
  // No number below `low` is looked for: the paths suppose that the bounds are in order.
  if (range.low && range.high) {
    const int order = CompareDecimals(range.low->value, range.high->value);
    if (order > 0 || (order == 0 && !(range.low->included && range.high->included))) return nullptr;
  }
  std::optional<ByteDfa> dfa = MakeNumberDfa(range, budget);
  return dfa.has_value() ? std::make_shared<const ByteDfa>(*std::move(dfa)) : nullptr;
}

}  // namespace superfluid
