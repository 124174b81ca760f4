#ifndef SUPERFLUID_TESTS_CONFORMANCE_OPTIONS_H_
#define SUPERFLUID_TESTS_CONFORMANCE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <variant>

namespace superfluid::conformance {

struct Options {
  std::string worker;     // command line, or empty
  std::string connect;    // socket, or empty
  std::string slow_args;  // appended to `worker` for checks that need slow work
  bool slow = false;      // the worker at `connect` is a slow one
  bool list = false;
  std::string only = "*";
  std::string skip;
  bool text = false;
  std::string junit;
  std::string name = "conformance";
  uint64_t seed = 1;
  std::string folder;
  std::string adapter;
  std::string media;
  std::string strategy;
  bool rooted = false;
};

// Says all there is to say; leave with this code.
struct Leave {
  int code = 0;
  std::string out;
  std::string err;
};

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

// Whether a check with this name and these ids is meant by the pattern: the name, or one of the
// ids, matches one of its globs, which are separated by commas.
bool Matches(const std::string& patterns, const std::string& ids, const std::string& name);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_OPTIONS_H_
