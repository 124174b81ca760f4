#ifndef SUPERFLUID_ENGINE_OPTIONS_OPTION_KINDS_H_
#define SUPERFLUID_ENGINE_OPTIONS_OPTION_KINDS_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/options/option_table.h"

namespace superfluid {

// Rows of an OptionTable<Options>. `field` returns the field of an Options& that the option sets;
// the field's initial value is the row's default.

// A whole number from `low` to `high`.
template <class Options, class Field>
Option<Options> WholeOption(std::string name, int64_t low, int64_t high, Field field,
                            std::string help) {
  Options initial;
  OptionRow row = {.name = std::move(name),
                   .kind = "whole number",
                   .range = absl::StrCat(low, " to ", high),
                   .initial = absl::StrCat(static_cast<int64_t>(field(initial))),
                   .help = std::move(help)};
  return {row, [row, low, high, field](absl::string_view value, Options& options) {
            int64_t number = 0;
            if (!absl::SimpleAtoi(value, &number) || number < low || number > high) {
              return WrongValue(row, value);
            }
            auto& set = field(options);
            set = static_cast<std::decay_t<decltype(set)>>(number);
            return absl::OkStatus();
          }};
}

// The same, and 0, which says something else than a number.
template <class Options, class Field>
Option<Options> ZeroOrWholeOption(std::string name, int64_t low, int64_t high, Field field,
                                  std::string help) {
  Option<Options> option = WholeOption<Options>(std::move(name), low, high, field, std::move(help));
  option.row.range = absl::StrCat(low, " to ", high, ", or 0");
  return {option.row,
          [row = option.row, set = option.set, field](absl::string_view value, Options& options) {
            if (value == "0") {
              field(options) = 0;
              return absl::OkStatus();
            }
            return set(value, options).ok() ? absl::OkStatus() : WrongValue(row, value);
          }};
}

// A number from `low` to `high`.
template <class Options, class Field>
Option<Options> NumberOption(std::string name, double low, double high, Field field,
                             std::string help) {
  Options initial;
  OptionRow row = {.name = std::move(name),
                   .kind = "number",
                   .range = absl::StrCat(low, " to ", high),
                   .initial = absl::StrCat(field(initial)),
                   .help = std::move(help)};
  return {row, [row, low, high, field](absl::string_view value, Options& options) {
            double number = 0;
            // NaN is neither.
            if (!absl::SimpleAtod(value, &number) || !(number >= low && number <= high)) {
              return WrongValue(row, value);
            }
            auto& set = field(options);
            set = static_cast<std::decay_t<decltype(set)>>(number);
            return absl::OkStatus();
          }};
}

// A duration in whole `units` ("milliseconds", each `unit`) from `low` to `high`.
template <class Options, class Field>
Option<Options> DurationOption(std::string name, std::string units, absl::Duration unit,
                               int64_t low, int64_t high, Field field, std::string help) {
  Options initial;
  OptionRow row = {.name = std::move(name),
                   .kind = std::move(units),
                   .range = absl::StrCat(low, " to ", high),
                   .initial = absl::StrCat(field(initial) / unit),
                   .help = std::move(help)};
  return {row, [row, unit, low, high, field](absl::string_view value, Options& options) {
            int64_t number = 0;
            if (!absl::SimpleAtoi(value, &number) || number < low || number > high) {
              return WrongValue(row, value);
            }
            field(options) = number * unit;
            return absl::OkStatus();
          }};
}

// true or false.
template <class Options, class Field>
Option<Options> SwitchOption(std::string name, Field field, std::string help) {
  Options initial;
  OptionRow row = {.name = std::move(name),
                   .kind = "switch",
                   .range = "",
                   .initial = field(initial) ? "true" : "false",
                   .help = std::move(help)};
  return {row, [row, field](absl::string_view value, Options& options) {
            bool on = false;
            if (!absl::SimpleAtob(value, &on)) return WrongValue(row, value);
            field(options) = on;
            return absl::OkStatus();
          }};
}

// One of a few names, each with its value.
template <class Options, class Value, class Field>
Option<Options> ChoiceOption(std::string name, std::vector<std::pair<std::string, Value>> choices,
                             Field field, std::string help) {
  Options initial;
  OptionRow row = {.name = std::move(name),
                   .kind = "one of",
                   .range = "",
                   .initial = "",
                   .help = std::move(help)};
  for (const auto& [text, value] : choices) {
    absl::StrAppend(&row.range, row.range.empty() ? "" : ", ", text);
    if (field(initial) == value) row.initial = text;
  }
  return {row,
          [row, choices = std::move(choices), field](absl::string_view given, Options& options) {
            for (const auto& [text, value] : choices) {
              if (text != given) continue;
              field(options) = value;
              return absl::OkStatus();
            }
            return WrongValue(row, given);
          }};
}

// A text for which `is_right` holds; `values`: what it must be, empty: anything.
template <class Options, class Field, class IsRight>
Option<Options> TextOption(std::string name, std::string values, IsRight is_right, Field field,
                           std::string help) {
  Options initial;
  OptionRow row = {.name = std::move(name),
                   .kind = "text",
                   .range = std::move(values),
                   .initial = field(initial),
                   .help = std::move(help)};
  return {row, [row, is_right, field](absl::string_view value, Options& options) {
            if (!is_right(value)) return WrongValue(row, value);
            field(options) = std::string(value);
            return absl::OkStatus();
          }};
}

inline bool IsAnyText(absl::string_view /*value*/) { return true; }
inline bool IsSomeText(absl::string_view value) { return !value.empty(); }

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_OPTIONS_OPTION_KINDS_H_
