#include "tests/engine/properties/property_run.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"

namespace superfluid::testing {
namespace {

constexpr uint64_t kDefaultSeed = 20'240'607;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

uint64_t SeedOf(uint64_t seed, uint64_t number) {
  std::seed_seq sequence{seed, seed >> 32U, number};
  uint32_t words[2] = {};
  sequence.generate(words, words + 2);
  return (uint64_t{words[0]} << 32U) | words[1];
}

}  // namespace

void RunProperty(absl::string_view name, int cases,
                 const std::function<absl::Status(CaseRandom& random)>& property) {
  const uint64_t seed = FromEnvironment("SUPERFLUID_PROPERTY_SEED", kDefaultSeed);
  const uint64_t count = FromEnvironment("SUPERFLUID_PROPERTY_CASES", static_cast<uint64_t>(cases));
  const uint64_t only = FromEnvironment("SUPERFLUID_PROPERTY_CASE", count);
  std::printf("%s: %d cases, SUPERFLUID_PROPERTY_SEED=%llu\n", std::string(name).c_str(),
              static_cast<int>(count), static_cast<unsigned long long>(seed));
  for (uint64_t i = 0; i < count; ++i) {
    if (only < count && i != only) continue;
    CaseRandom random(SeedOf(seed, i));
    const absl::Status status = property(random);
    if (status.ok()) continue;
    ADD_FAILURE() << name << ": " << status << "\nreplay with SUPERFLUID_PROPERTY_SEED=" << seed
                  << " SUPERFLUID_PROPERTY_CASE=" << i;
    return;
  }
}

}  // namespace superfluid::testing
