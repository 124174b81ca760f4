#ifndef SUPERFLUID_TESTS_ENGINE_CONSTRAIN_RANDOM_SCHEMA_H_
#define SUPERFLUID_TESTS_ENGINE_CONSTRAIN_RANDOM_SCHEMA_H_

#include <cstdint>
#include <random>
#include <string>

namespace superfluid::testing {

// Returns a random JSON schema, of keywords that grammars take. Some schemas are refused all the
// same (cases of a oneOf that overlap, values that contradict each other).
std::string RandomSchema(std::mt19937_64& random);

// Returns the seed of a random test: $SUPERFLUID_SEED, or `usual`. It belongs into every failure.
uint64_t SeedOfTest(uint64_t usual);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_CONSTRAIN_RANDOM_SCHEMA_H_
