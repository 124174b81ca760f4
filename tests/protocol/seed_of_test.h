#ifndef SUPERFLUID_TESTS_PROTOCOL_SEED_OF_TEST_H_
#define SUPERFLUID_TESTS_PROTOCOL_SEED_OF_TEST_H_

#include <cstdint>
#include <cstdlib>
#include <random>

namespace superfluid::linkw {

// The seed of a random test; LINKW_SEED repeats a failed run.
inline uint64_t SeedOfTest() {
  const char* given = std::getenv("LINKW_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_SEED_OF_TEST_H_
