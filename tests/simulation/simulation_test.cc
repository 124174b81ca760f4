// Plays ten thousand seeds, and others with SUPERFLUID_SIMULATION_SEEDS=n. A failure names its seed
// and the command that plays it again.

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "spdlog/spdlog.h"
#include "tests/simulation/plan.h"
#include "tests/simulation/runner.h"
#include "tests/simulation/session.h"
#include "tests/simulation/shrink.h"

namespace superfluid::simulation {
namespace {

constexpr uint64_t kSeeds = 10'000;

uint64_t Seeds() {
  const char* const text =
      std::getenv("SUPERFLUID_SIMULATION_SEEDS");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? kSeeds : std::strtoull(text, nullptr, 10);
}

TEST(SimulationTest, NoSessionBreaksTheContract) {
  spdlog::set_level(spdlog::level::off);
  const Summary summary = PlaySeeds(1, Seeds(), 2);
  for (const Failure& failure : summary.failures) {
    ADD_FAILURE() << "seed " << failure.seed << ": " << failure.text
                  << "\n  bazel run //tests/simulation -- --seed=" << failure.seed
                  << " --trace --shrink";
  }
  if (!summary.failures.empty()) return;
  EXPECT_EQ(summary.played, Seeds());
  // That the sessions are not all refusals.
  for (const char* what : {"TICK_SUBMIT OK",
                           "TICK_SUBMIT DEADLINE_EXCEEDED",
                           "lane OK",
                           "lane UNKNOWN_HANDLE",
                           "STATE_SYNC_REQ (speech) OK",
                           "STATE_SYNC_REQ (speech) CANCELLED",
                           "STATE_SYNC_REQ (speech) DEADLINE_EXCEEDED",
                           "STATE_SYNC_REQ (speech) DRAINING",
                           "STATE_SYNC_REQ OK",
                           "op done",
                           "op cancelled",
                           "op failed",
                           "SEED_ACQUIRE OK",
                           "BUF_ALLOC OK",
                           "DRAIN_REQ OK",
                           "HELLO OK",
                           "fatal BUSY",
                           "fatal PROTOCOL_ERROR",
                           "BUF_ALLOC OUT_OF_MEMORY",
                           "BUF_ATTACH OUT_OF_MEMORY",
                           "TICK_SUBMIT ENGINE_FAILED",
                           "refused by the kernel",
                           "plan shortages, bad engine"}) {
    EXPECT_GT(summary.counts.count(what), 0u) << what << " never happened";
  }
}

TEST(SimulationTest, ASeedPlaysTheSameTwice) {
  spdlog::set_level(spdlog::level::off);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = MakePlan(seed);
    const Outcome first = Play(plan, {.trace = true});
    const Outcome second = Play(plan, {.trace = true});
    EXPECT_EQ(first.trace, second.trace) << "seed " << seed;
  }
}

TEST(ShrinkTest, LeavesTheActionsThatAreNeeded) {
  Plan plan;
  for (uint32_t i = 0; i < 50; ++i) plan.actions.push_back({.draw = i});
  const auto needs = [](const Plan& candidate) {
    int found = 0;
    for (const Action& action : candidate.actions) found += action.draw == 7 || action.draw == 40;
    return found == 2;
  };
  const Plan shrunk = Shrink(plan, needs);
  ASSERT_EQ(shrunk.actions.size(), 2u);
  EXPECT_EQ(shrunk.actions[0].draw, 7u);
  EXPECT_EQ(shrunk.actions[1].draw, 40u);
}

}  // namespace
}  // namespace superfluid::simulation
