#include "tools/ctl/base/time_option.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid::ctl {
namespace {

std::string Expected(absl::Duration unit) {
  return absl::StrCat("a number of ", unit == absl::Seconds(1) ? "seconds" : "milliseconds",
                      ", or a time with its unit such as 500ms or 2s");
}

absl::StatusOr<uint32_t> ParseMs(const std::string& text, MsRange range) {
  const absl::StatusOr<absl::Duration> time = ParseTime(text, absl::Milliseconds(1));
  if (!time.ok()) return time.status();
  if (*time < absl::Milliseconds(range.min) || *time > absl::Milliseconds(range.max)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not between ", range.min,
                                                   " and ", range.max, " milliseconds"));
  }
  return static_cast<uint32_t>(absl::ToInt64Milliseconds(*time));
}

}  // namespace

absl::StatusOr<absl::Duration> ParseTime(const std::string& text, absl::Duration unit) {
  absl::Duration time;
  double number = 0;
  if (absl::SimpleAtod(text, &number)) {
    time = std::isnan(number) ? absl::InfiniteDuration() : number * unit;
  } else if (!absl::ParseDuration(text, &time)) {
    time = absl::InfiniteDuration();
  }
  if (time == absl::InfiniteDuration() || time == -absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no time: give ", Expected(unit)));
  }
  return time;
}

CLI::Option* AddMsOption(CLI::App& app, const std::string& name, const std::string& help,
                         MsRange range, std::function<void(uint32_t)> set) {
  const auto check = [range](const std::string& text) {
    const absl::StatusOr<uint32_t> ms = ParseMs(text, range);
    return ms.ok() ? std::string() : std::string(ms.status().message());
  };
  return app
      .add_option_function<std::string>(
          name,
          [set = std::move(set), range](const std::string& text) {
            set(ParseMs(text, range).value_or(range.min));  // the check came before
          },
          absl::StrCat(help, ": ms, or with a unit such as 2s"))
      ->type_name("TIME")
      ->check(CLI::Validator(check, ""));
}

CLI::Validator WholeNumber(uint64_t min, uint64_t max) {
  const auto check = [min, max](const std::string& text) -> std::string {
    uint64_t number = 0;
    if (absl::SimpleAtoi(text, &number) && number >= min && number <= max) return "";
    return absl::StrCat("'", text, "' is no whole number from ", min, " to ", max);
  };
  return {check, ""};
}

CLI::Validator NotNegative() {
  const auto check = [](const std::string& text) -> std::string {
    if (text.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(text.front()))) {
      return absl::StrCat("'", text, "' is no whole number from 0 on");
    }
    // Which the parser of options takes for the largest number there is.
    uint64_t number = 0;
    const bool is_whole = std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
    if (!is_whole || absl::SimpleAtoi(text, &number)) return "";
    return absl::StrCat("'", text, "' is more than ", UINT64_MAX);
  };
  return {check, ""};
}

CLI::Validator NotEmpty() {
  return {[](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, ""};
}

}  // namespace superfluid::ctl
