#include "engine/constrain/scalar_automata.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/constrain/regular_expression.h"

namespace superfluid {
namespace {

// Returns the expression of a format; "" if it is not known.
std::string FormatPattern(absl::string_view format) {
  // Year 0000 is left out: many readers know none.
  const std::string date =
      "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3["
      "01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
      "02-(0[1-9]|1[0-9]|2[0-8]))";
  const std::string time =
      "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?"
      "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
  const std::string octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
  const std::string label = "[A-Za-z0-9]([A-Za-z0-9-]{0,20}[A-Za-z0-9])?";
  const auto whole = [](const auto&... parts) { return absl::StrCat("^(?:", parts..., ")$"); };
  if (format == "date") return whole(date);
  if (format == "time") return whole(time);
  if (format == "date-time") return whole(date, "T", time);
  if (format == "uuid") return "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
  if (format == "ipv4") return whole("(", octet, "\\.){3}", octet);
  if (format == "email") {
    return whole("[A-Za-z0-9_+-]{1,20}(\\.[A-Za-z0-9_+-]{1,20}){0,2}@(", label,
                 "\\.){1,3}[A-Za-z]{2,10}");
  }
  return "";
}

size_t Characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0U) != 0x80U; }));
}

bool Takes(const ByteDfa& dfa, const std::string& text) {
  auto state = static_cast<int32_t>(dfa.start());
  for (const char c : text) {
    state = dfa.Next(static_cast<uint32_t>(state), static_cast<uint8_t>(c));
    if (state == ByteDfa::kNone) return false;
  }
  return dfa.Accepts(static_cast<uint32_t>(state));
}

void AddUnique(std::vector<std::string>& list, const std::string& text) {
  const auto at = std::lower_bound(list.begin(), list.end(), text);
  if (at == list.end() || *at != text) list.insert(at, text);
}

}  // namespace

std::string StringRules::Key() const {
  return absl::StrCat(min, ",", max, ",", patterns.size(), ",", absl::StrJoin(patterns, "\n"), "\n",
                      absl::StrJoin(formats, "\n"));
}

void ScalarAutomata::AddTo(const SchemaView& view, StringRules& rules) {
  if (view.Has(Keyword::kMinLength)) {
    rules.min = std::max(rules.min, ReadCount(view.Get(Keyword::kMinLength), 0));
  }
  if (view.Has(Keyword::kMaxLength)) {
    rules.max = std::min(rules.max, ReadCount(view.Get(Keyword::kMaxLength), UINT32_MAX));
  }
  if (view.Has(Keyword::kPattern)) AddUnique(rules.patterns, view.Get(Keyword::kPattern)->text);
  if (view.Has(Keyword::kFormat)) AddUnique(rules.formats, view.Get(Keyword::kFormat)->text);
}

void ScalarAutomata::AddTo(const SchemaView& view, NumberRange& range) {
  const auto bound = [&view](Keyword keyword) { return *ParseDecimal(view.Get(keyword)->text); };
  if (view.Has(Keyword::kMinimum)) range.AddLow(bound(Keyword::kMinimum), true);
  if (view.Has(Keyword::kExclusiveMinimum)) range.AddLow(bound(Keyword::kExclusiveMinimum), false);
  if (view.Has(Keyword::kMaximum)) range.AddHigh(bound(Keyword::kMaximum), true);
  if (view.Has(Keyword::kExclusiveMaximum)) range.AddHigh(bound(Keyword::kExclusiveMaximum), false);
  if (!view.Has(Keyword::kMultipleOf)) return;
  const Decimal divisor = bound(Keyword::kMultipleOf);
  const size_t last = divisor.fraction.size();
  const bool unit = divisor.whole.empty() && divisor.fraction.back() == '1' &&
                    divisor.fraction.find_first_not_of('0') == last - 1;
  if (unit) {
    range.fraction = std::min(range.fraction, static_cast<uint32_t>(std::min<size_t>(last, 14)));
    return;
  }
  uint64_t factor = 0;
  const bool whole = divisor.IsInteger() && absl::SimpleAtoi(divisor.whole, &factor);
  if (!whole || factor > NumberRange::kMaxDivisor) {
    return budget_.Fail(UnsupportedKeyword(
        "multipleOf", absl::StrCat(" of anything but 0.1, 0.01, ... and integers up to ",
                                   NumberRange::kMaxDivisor)));
  }
  range.fraction = 0;
  range.divisor = std::lcm(range.divisor, factor);
  if (range.divisor > NumberRange::kMaxDivisor) {
    budget_.Fail(BadSchema("too large a grammar: multipleOf of several"));
  }
}

std::shared_ptr<const ByteDfa> ScalarAutomata::OfPattern(const std::string& pattern) {
  auto& made = made_[absl::StrCat("p", pattern)];
  if (made != nullptr || budget_.failed()) return made;
  std::optional<ByteDfa> dfa = PatternDfa(pattern, budget_);
  if (dfa.has_value()) made = std::make_shared<const ByteDfa>(*std::move(dfa));
  return made;
}

std::shared_ptr<const ByteDfa> ScalarAutomata::OfStrings(const StringRules& rules) {
  std::vector<std::string> patterns = rules.patterns;
  for (const std::string& format : rules.formats) {
    patterns.push_back(FormatPattern(format));
    if (!patterns.back().empty()) continue;
    budget_.Fail(UnsupportedKeyword("format", absl::StrCat(" '", format, "'")));
    return nullptr;
  }
  std::shared_ptr<const ByteDfa> all;
  for (const std::string& pattern : patterns) {
    std::shared_ptr<const ByteDfa> one = OfPattern(pattern);
    if (one == nullptr) return nullptr;
    if (all != nullptr) {
      std::optional<ByteDfa> both = Intersect(*all, *one, budget_);
      if (!both.has_value()) return nullptr;
      one = std::make_shared<const ByteDfa>(*std::move(both));
    }
    all = std::move(one);
  }
  return all;
}

std::shared_ptr<const ByteDfa> ScalarAutomata::OfNumbers(const NumberRange& range) {
  auto& made = made_[absl::StrCat("n", range.Key())];
  if (made == nullptr && !budget_.failed()) made = NumberDfa(range, budget_);
  return made;
}

bool ScalarAutomata::AllowsString(const SchemaView& view, const JsonValue& value) {
  StringRules rules;
  AddTo(view, rules);
  const size_t characters = Characters(value.text);
  if (characters < rules.min || characters > rules.max) return false;
  if (rules.patterns.empty() && rules.formats.empty()) return true;
  const auto dfa = OfStrings(rules);
  return dfa != nullptr && budget_.Spend(value.text.size()) && Takes(*dfa, QuotedJson(value.text));
}

bool ScalarAutomata::AllowsNumber(const SchemaView& view, const JsonValue& value) {
  const std::optional<Decimal> number = ParseDecimal(value.text);
  if (!number.has_value()) {
    budget_.Fail(BadSchema("a number in 'enum' or 'const' is out of range"));
    return false;
  }
  NumberRange range;
  AddTo(view, range);
  if (range.divisor != 1) {
    if (!number->IsInteger()) return false;
    uint64_t rest = 0;
    for (const char digit : number->whole) {
      rest = (rest * 10 + static_cast<uint64_t>(digit - '0')) % range.divisor;
    }
    if (rest != 0) return false;
  }
  const auto fraction = static_cast<uint32_t>(number->fraction.size());
  if (range.fraction != NumberRange::kMaxFraction && fraction > range.fraction) return false;
  NumberRange narrowed = range;
  narrowed.AddLow(*number, true);
  narrowed.AddHigh(*number, true);
  return narrowed.low->value == *number && narrowed.low->included &&
         narrowed.high->value == *number && narrowed.high->included;
}

bool ScalarAutomata::Allows(const SchemaView& view, const JsonValue& value, Keyword listed) {
  const unsigned type = TypeOf(value);
  if (view.Has(Keyword::kType) && (ReadTypes(*view.Get(Keyword::kType)) & type) == 0) return false;
  for (const Keyword keyword : {Keyword::kConst, Keyword::kEnum}) {
    if (!view.Has(keyword) || keyword == listed) continue;
    const JsonValue& list = *view.Get(keyword);
    const std::string wanted = CanonicalJson(value);
    const auto equals = [&](const JsonValue* item) { return CanonicalJson(*item) == wanted; };
    const auto& items = list.items;
    if (!budget_.Spend(items.size() + wanted.size())) return false;
    const bool found = keyword == Keyword::kConst ? equals(&list)
                                                  : std::any_of(items.begin(), items.end(), equals);
    if (!found) return false;
  }
  if ((type & kStringType) != 0) return AllowsString(view, value);
  if ((type & kNumberTypes) != 0) return AllowsNumber(view, value);
  const bool object = (type & kObjectType) != 0;
  const auto first = object ? Keyword::kProperties : Keyword::kItems;
  const auto last = object ? Keyword::kMaxProperties : Keyword::kUniqueItems;
  if (!object && (type & kArrayType) == 0) return true;
  for (auto i = static_cast<size_t>(first); i <= static_cast<size_t>(last); ++i) {
    if (!view.Has(static_cast<Keyword>(i))) continue;
    budget_.Fail(UnsupportedKeyword(NameOf(static_cast<Keyword>(i)), " beside enum or const"));
    return false;
  }
  return true;
}

}  // namespace superfluid
