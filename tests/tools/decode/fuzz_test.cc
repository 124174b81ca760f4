// The corpus of the decoder's fuzz target, and mutations of it.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fuzz/decode_fuzz.h"

namespace superfluid::decode {
namespace {

std::vector<std::string> Corpus() {
  std::vector<std::string> corpus;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/decode_corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

// A seed that failed can be given again: $SUPERFLUID_FUZZ_SEED.
uint32_t Seed() {
  const char* given = std::getenv("SUPERFLUID_FUZZ_SEED");
  return given == nullptr ? std::random_device()()
                          : static_cast<uint32_t>(std::strtoul(given, nullptr, 10));
}

TEST(DecodeFuzzTest, KeepsItsPromisesOverTheCorpus) {
  const std::vector<std::string> corpus = Corpus();
  ASSERT_GE(corpus.size(), 10u);
  for (const std::string& bytes : corpus) fuzz::FuzzDecode(bytes);
}

TEST(DecodeFuzzTest, KeepsItsPromisesOverMutations) {
  const uint32_t seed = Seed();
  SCOPED_TRACE(seed);
  RecordProperty("seed", std::to_string(seed));
  std::printf("SUPERFLUID_FUZZ_SEED=%u\n", seed);
  std::mt19937 random(seed);
  for (const std::string& bytes : Corpus()) {
    for (int round = 0; round < 25; ++round) {
      std::string mutated = bytes;
      for (size_t change = random() % 8 + 1; change > 0; --change) {
        mutated[random() % mutated.size()] = static_cast<char>(random());
      }
      if (random() % 4 == 0) mutated.resize(random() % mutated.size());
      if (random() % 4 == 0) mutated += mutated.substr(random() % (mutated.size() + 1));
      fuzz::FuzzDecode(mutated);
    }
  }
}

}  // namespace
}  // namespace superfluid::decode
