#ifndef SUPERFLUID_TESTS_ENGINE_PROPERTIES_PROPERTY_RUN_H_
#define SUPERFLUID_TESTS_ENGINE_PROPERTIES_PROPERTY_RUN_H_

#include <cstdint>
#include <functional>
#include <random>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace superfluid::testing {

// Numbers for one case, the same on every machine.
class CaseRandom {
 public:
  explicit CaseRandom(uint64_t seed) : engine_(seed) {}

  // In [low, high].
  uint64_t In(uint64_t low, uint64_t high) { return low + engine_() % (high - low + 1); }
  bool Chance(uint64_t percent) { return In(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

// Runs `property` for `cases` seeds, or until it fails; the failure names what replays it.
//
// The seed is printed, and is SUPERFLUID_PROPERTY_SEED if that is set, otherwise a fixed one;
// SUPERFLUID_PROPERTY_CASE runs one case alone; SUPERFLUID_PROPERTY_CASES changes their number.
void RunProperty(absl::string_view name, int cases,
                 const std::function<absl::Status(CaseRandom& random)>& property);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_PROPERTIES_PROPERTY_RUN_H_
