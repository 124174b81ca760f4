#ifndef SUPERFLUID_TESTS_FUZZ_TARGET_H_
#define SUPERFLUID_TESTS_FUZZ_TARGET_H_

#include <cstdlib>
#include <string_view>

namespace superfluid::fuzz {

// The body of a fuzz target: does what a program does with bytes from outside, and aborts where
// what the unit promises does not hold. Each target of fuzz_target.bzl defines it once; libFuzzer
// (fuzz_main.cc) and a plain test (replay_test.cc) call it.
void FuzzOne(std::string_view bytes);

// Ends the process if a promise is broken.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace superfluid::fuzz

#endif  // SUPERFLUID_TESTS_FUZZ_TARGET_H_
