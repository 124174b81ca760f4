#ifndef SUPERFLUID_TESTS_ENGINE_SIM_SIM_GENERATION_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_SIM_SIM_GENERATION_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/sim/sim_engine.h"
#include "engine/sim/sim_generation.h"
#include "tests/engine/abi/engine_test_util.h"
#include "tests/engine/properties/generation_driver.h"

namespace superfluid::testing {

// Time that goes by at once; a test may look in whenever some is spent.
class LookingClock : public SimClock {
 public:
  void Spend(absl::Duration work) override {
    now += work;
    if (on_spend) on_spend();
  }
  void Hang(absl::Duration limit) override { now += limit; }
  absl::Time Now() const override { return now; }

  absl::Time now = absl::UnixEpoch();
  std::function<void()> on_spend;
};

// A sim engine in virtual time, and verbs for its generation.
class SimGenerationTest : public ::testing::Test {
 protected:
  void SetUp() override { Make({}); }
  void TearDown() override { EXPECT_TRUE(generation_->CheckInvariants()); }

  void Make(std::vector<std::pair<std::string, std::string>> options) {
    auto engine = MakeSimEngine(ConfigWith(std::move(options)), clock_);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    generation_ = static_cast<SimGeneration*>(engine_->generation());
    driver_ = std::make_unique<GenerationDriver>(*generation_);
  }

  // `count` tokens that depend on `seed`.
  static std::vector<Token> Tokens(size_t count, uint32_t seed = 1) {
    std::vector<Token> tokens;
    tokens.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      tokens.push_back(static_cast<Token>((i * 37 + size_t{seed} * 101) % 256));
    }
    return tokens;
  }
  SequenceHandle Prefill(const std::vector<Token>& tokens, SequenceHandle sequence = {}) {
    const auto result = driver_->RunLane(driver_->LaneFor({}, sequence, tokens, 0));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->sequence : SequenceHandle{};
  }
  absl::StatusOr<std::vector<Token>> Decode(SequenceHandle sequence, uint32_t draws,
                                            const Script& script = {}) {
    const auto result = driver_->RunLane(driver_->LaneFor(script, sequence, {}, draws));
    if (!result.ok()) return result.status();
    return result->tokens;
  }
  absl::StatusOr<std::vector<LaneResult>> RunTick(const std::vector<LaneWork>& lanes,
                                                  TickHost& host) {
    Tick tick;
    tick.lanes = lanes;
    return generation_->RunTick(tick, token_, host);
  }
  absl::StatusOr<std::vector<LaneResult>> RunTick(const std::vector<LaneWork>& lanes) {
    QuietHost host;
    return RunTick(lanes, host);
  }
  // A lane; without draws one that prefills. `input` must outlive it.
  LaneWork Lane(uint64_t tag, const std::vector<Token>& input, uint32_t draws) {
    LaneWork work;
    work.tag = LaneTag{tag};
    work.kind = draws == 0 ? LaneKind::kPrefill : LaneKind::kDecode;
    work.input = input;
    work.max_tokens = draws;
    return work;
  }
  // The only lane's result.
  LaneResult RunOne(const LaneWork& work) {
    auto results = RunTick({work});
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? results->front() : LaneResult{};
  }
  absl::Status ErrorOf(const LaneWork& work) {
    const LaneResult result = RunOne(work);
    EXPECT_EQ(result.finish, FinishReason::kError);
    EXPECT_TRUE(result.tokens.empty());
    return result.status;
  }
  std::string WriteFile(const std::string& name, const std::string& bytes);

  const std::shared_ptr<LookingClock> clock_ = std::make_shared<LookingClock>();
  std::unique_ptr<Engine> engine_;
  SimGeneration* generation_ = nullptr;
  std::unique_ptr<GenerationDriver> driver_;
  CancelToken token_;
};

inline std::string SimGenerationTest::WriteFile(const std::string& name, const std::string& bytes) {
  std::string path = ::testing::TempDir() + "/" + name;
  FILE* file = std::fopen(path.c_str(), "wb");
  EXPECT_NE(file, nullptr);
  if (file == nullptr) return path;
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  return path;
}

MATCHER_P(HasCode, code, "") {  // NOLINT(readability-redundant-string-init)
  if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, absl::Status>) {
    return arg.code() == code;
  } else {
    return arg.status().code() == code;
  }
}

inline constexpr auto kNotFound = absl::StatusCode::kNotFound;
inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
inline constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;
inline constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
inline constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_SIM_SIM_GENERATION_FIXTURE_H_
