#ifndef SUPERFLUID_TESTS_ENGINE_EXAMPLES_EXAMPLE_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_EXAMPLES_EXAMPLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/cancel_token.h"
#include "engine/engine.h"

namespace superfluid::testing {

// Never stops a lane; keeps what was emitted.
class QuietHost : public TickHost {
 public:
  bool LaneStopped(size_t /*lane*/) override { return --draws_left < 0; }
  void Emit(size_t /*lane*/, absl::Span<const Token> tokens) override {
    emitted.insert(emitted.end(), tokens.begin(), tokens.end());
  }
  int draws_left = 1 << 30;  // until LaneStopped says so
  std::vector<Token> emitted;
};

// The example engine, loaded as a worker loads it.
class ExampleFixture : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Load({}).ok()); }
  absl::Status Load(const EngineConfig& config);

  Generation& generation() { return *engine_->generation(); }

  // A tick of one lane. Fails the test if the tick as a whole fails.
  LaneResult Run(const LaneWork& lane);
  // A new sequence with these tokens.
  SequenceHandle Prefilled(const std::vector<Token>& tokens);
  // What a decode of `count` tokens draws, with the sampling of `sampling_`.
  std::vector<Token> Decode(SequenceHandle sequence, uint32_t count);

  // The bytes of an export of the first `end` tokens, and what they are the state of.
  struct Exported {
    std::vector<std::byte> bytes;
    Digest provenance{};
  };
  Exported Export(SequenceHandle sequence, TokenRange range, bool free_device_copy = false);
  absl::Status Import(SequenceHandle sequence, TokenRange range, const Exported& state,
                      bool replace);

  // Random, from a seed that is printed if the test fails.
  uint64_t Random(uint64_t below) { return random_() % below; }
  std::vector<Token> RandomText(size_t at_least, size_t at_most);
  void RandomSampling();

  std::unique_ptr<Engine> engine_;
  CancelToken token_;
  QuietHost host_;
  SamplingParams sampling_;
  std::mt19937_64 random_{20240229};
};

// Steps a state job to its end.
absl::Status RunToEnd(StateJob& job);

std::vector<Token> TokensOf(const std::string& text);
std::string TextOf(const std::vector<Token>& tokens);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_EXAMPLES_EXAMPLE_FIXTURE_H_
