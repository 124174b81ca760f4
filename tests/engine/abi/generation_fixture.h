#ifndef SUPERFLUID_TESTS_ENGINE_ABI_GENERATION_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_GENERATION_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "tests/engine/abi/fake_generation.h"

namespace superfluid::testing {

// Remembers what a tick asked and told.
class RecordingHost : public TickHost {
 public:
  bool LaneStopped(size_t lane) override {
    ++asked;
    return lane == stopped_lane;
  }
  void Emit(size_t lane, absl::Span<const Token> tokens) override {
    emits.emplace_back(lane, std::vector<Token>(tokens.begin(), tokens.end()));
  }

  size_t stopped_lane = SIZE_MAX;
  int asked = 0;
  std::vector<std::pair<size_t, std::vector<Token>>> emits;
};

// An engine with a FakeGeneration, behind the C interface and back: 4 lanes, 1000 tokens.
class GenerationFixture : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Makes the engine anew, with what the script says now; without a generation if `generates` is
  // false.
  absl::Status Make(bool generates = true);
  Generation& generation() { return *generation_; }
  std::string LastCall() const { return script_.calls.empty() ? "" : script_.calls.back(); }
  SequenceHandle Sequence() { return *generation().CreateSequence(); }

  FakeScript script_;
  RecordingHost host_;
  CancelToken token_;
  std::unique_ptr<Engine> engine_;
  Generation* generation_ = nullptr;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_ABI_GENERATION_FIXTURE_H_
