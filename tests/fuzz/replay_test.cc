// The body of one fuzz target over its committed corpus, and over a bounded number of mutations of
// it. usage: NAME_replay_test CORPUS MUTATIONS; FUZZ_SEED repeats a failed run.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {
namespace {

std::string corpus_folder;
int mutations = 0;

std::vector<std::string> Corpus() {
  std::vector<std::string> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(corpus_folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

uint64_t Seed() {
  const char* given = std::getenv("FUZZ_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

TEST(ReplayTest, KeepsItsPromisesOverTheCorpus) {
  const std::vector<std::string> inputs = Corpus();
  ASSERT_FALSE(inputs.empty());
  for (const std::string& input : inputs) FuzzOne(input);
  FuzzOne("");
}

TEST(ReplayTest, KeepsItsPromisesOverMutations) {
  const std::vector<std::string> inputs = Corpus();
  ASSERT_FALSE(inputs.empty());
  const uint64_t seed = Seed();
  std::cout << "FUZZ_SEED=" << seed << std::endl;  // also if the process dies
  Mutator mutator(seed);
  for (int i = 0; i < mutations; ++i) {
    FuzzOne(mutator.Mutate(inputs[static_cast<size_t>(i) % inputs.size()], inputs));
  }
}

}  // namespace
}  // namespace superfluid::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " CORPUS MUTATIONS\n";
    return 2;
  }
  superfluid::fuzz::corpus_folder = argv[1];
  superfluid::fuzz::mutations = std::atoi(argv[2]);
  return RUN_ALL_TESTS();
}
