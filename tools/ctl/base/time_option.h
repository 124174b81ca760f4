#ifndef SUPERFLUID_TOOLS_CTL_BASE_TIME_OPTION_H_
#define SUPERFLUID_TOOLS_CTL_BASE_TIME_OPTION_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

// Spans of time and counts on the command line, with errors that say what is expected.
namespace superfluid::ctl {

// "1500" and "2.5" are so many `unit`s; "500ms", "2s", "1m30s" name theirs. InvalidArgument for
// anything else and for what is not finite. `unit` is a second or a millisecond.
absl::StatusOr<absl::Duration> ParseTime(const std::string& text, absl::Duration unit);

// What milliseconds an option takes.
struct MsRange {
  uint32_t min = 0;
  uint32_t max = std::numeric_limits<uint32_t>::max();
};

// Adds an option that takes a time, a bare number being milliseconds. `set` is called with its
// milliseconds when the command line is read, if the option is given.
CLI::Option* AddMsOption(CLI::App& app, const std::string& name, const std::string& help,
                         MsRange range, std::function<void(uint32_t)> set);

// Accepts whole numbers from `min` to `max`.
CLI::Validator WholeNumber(uint64_t min, uint64_t max);

// Accepts what begins with a digit: the parser takes "-1" for the largest number there is.
CLI::Validator NotNegative();

// Refuses an empty text.
CLI::Validator NotEmpty();

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_TIME_OPTION_H_
