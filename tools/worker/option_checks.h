#ifndef SUPERFLUID_TOOLS_WORKER_OPTION_CHECKS_H_
#define SUPERFLUID_TOOLS_WORKER_OPTION_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace superfluid {

// Checks of an option's value whose messages are for people: CLI11's own print the numbers behind
// names and ranges of 300 digits. Each also describes the value in --help.

// A whole number from `least` to `most`: "'abc' is not a number of milliseconds from 0 to 1000".
// `what` is empty or begins with "of ".
CLI::Validator WholeNumber(int64_t least, int64_t most, const std::string& what = "");

// One of the texts: "'never' is none of keep-cache, reset, exit".
CLI::Validator OneOf(const std::vector<std::string>& choices);

// "'audio' is not an absolute path".
CLI::Validator AbsolutePath();

// Letters, digits, '-', '_' and '.': "'a b' is not a plain name".
CLI::Validator PlainName();

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_OPTION_CHECKS_H_
