// The tick's token is looked at inside a pass, too: whenever it is set, what was computed is kept
// consistent, and doing the rest gives what an undisturbed run gives.

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {
namespace {

// Set from the n-th time on that somebody looks.
struct Countdown {
  uint64_t looks = 0;
  uint64_t set_at = 0;
};

CancelReason Look(void* context) noexcept {
  auto* countdown = static_cast<Countdown*>(context);
  return ++countdown->looks > countdown->set_at ? CancelReason::kRequested : CancelReason::kNone;
}

class LlamaAbortTest : public LlamaFixture {
 protected:
  void SetUp() override { Start({{"batch", "256"}, {"ubatch", "32"}}); }

  std::vector<LaneResult> RunCancelledAt(const std::vector<LaneWork>& lanes, uint64_t look) {
    countdown_ = {0, look};
    const CancelToken token(&Look, &countdown_);
    QuietHost host;
    return RunTick(lanes, token, host);
  }

  Countdown countdown_;
};

TEST_F(LlamaAbortTest, CancelledAtAnyMomentALaneGoesOnAsIfNothingHadBeen) {
  const Script script = Greedy(Prompt(100), 6);
  const Script other = Greedy(Prompt(70, 2), 6);
  const std::vector<Token> expected = Draw(script);
  const std::vector<Token> expected_other = Draw(other);
  const auto undisturbed = RunCancelledAt({driver().LaneFor(script, {}, script.prompt, 6),
                                           driver().LaneFor(other, {}, other.prompt, 6)},
                                          UINT64_MAX);
  const uint64_t looks = countdown_.looks;
  for (const LaneResult& result : undisturbed) ASSERT_TRUE(driver().Free(result.sequence).ok());
  ASSERT_GT(looks, 200U);  // far more than there are draws
  for (uint64_t look = 0; look < looks; look += 1 + looks / 150) {
    const auto results = RunCancelledAt({driver().LaneFor(script, {}, script.prompt, 6),
                                         driver().LaneFor(other, {}, other.prompt, 6)},
                                        look);
    ASSERT_TRUE(generation_->CheckInvariants()) << look;
    const std::vector<const Script*> scripts = {&script, &other};
    const std::vector<const std::vector<Token>*> drawn = {&expected, &expected_other};
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(results[i].status.ok()) << results[i].status;
      EXPECT_EQ(results[i].finish == FinishReason::kStopped, results[i].tokens.size() < 6) << look;
      EXPECT_EQ(results[i].position, scripts[i]->prompt.size() + results[i].tokens.size());
      EXPECT_TRUE(SameTokens(results[i].tokens,
                             absl::MakeConstSpan(*drawn[i]).first(results[i].tokens.size()))
                      .ok());
      EXPECT_EQ(driver().Continue(*scripts[i], *drawn[i], results[i].sequence, results[i].position),
                absl::OkStatus())
          << look;
      ASSERT_TRUE(driver().Free(results[i].sequence).ok());
    }
  }
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
}

TEST_F(LlamaAbortTest, DraftsInACancelledPassLeaveNothing) {
  const Script script = Greedy(Prompt(40), 12);
  const std::vector<Token> expected = Draw(script);
  const auto made = driver().RunLane(driver().LaneFor(script, {}, script.prompt, 1));
  ASSERT_TRUE(made.ok());
  LaneWork verify = driver().LaneFor(script, made->sequence, {}, 11);
  verify.kind = LaneKind::kVerify;
  verify.drafts = absl::MakeConstSpan(expected).subspan(1);
  for (uint64_t look = 0; look < 40; look += 3) {
    const auto results = RunCancelledAt({verify}, look);
    ASSERT_TRUE(results[0].status.ok());
    ASSERT_TRUE(generation_->CheckInvariants()) << look;
    ASSERT_TRUE(driver().TrimAll(made->sequence, 41).ok());
  }
  EXPECT_EQ(driver().Continue(script, expected, made->sequence, 41), absl::OkStatus());
}

TEST_F(LlamaAbortTest, AnExportIsCancelledInsideAPass) {
  const Script script = Greedy(Prompt(200), 4);
  const std::vector<Token> expected = Draw(script);
  const auto made = driver().RunLane(driver().LaneFor(script, {}, script.prompt, 0));
  ASSERT_TRUE(made.ok());
  for (uint64_t look = 1; look < 60; look += 4) {
    const SpaceId space = generation().StateSpaces()[0].id;
    const auto size = generation().SizeOfExport(made->sequence, space, {0, 200}, 0);
    ASSERT_TRUE(size.ok());
    std::vector<std::byte> bytes(size->bytes);
    auto job = generation().StartExport({made->sequence, space, {0, 200}, 0, false},
                                        absl::MakeSpan(bytes));
    ASSERT_TRUE(job.ok()) << job.status();
    countdown_ = {0, look};
    const CancelToken token(&Look, &countdown_);
    absl::StatusOr<StateJobOutcome> outcome = StateJobOutcome::kMore;
    while (outcome.ok() && *outcome != StateJobOutcome::kDone) outcome = (*job)->Step({}, token);
    if (outcome.ok()) break;
    EXPECT_TRUE(absl::IsCancelled(outcome.status()));
    ASSERT_TRUE(generation_->CheckInvariants());
  }
  EXPECT_EQ(driver().Continue(script, expected, made->sequence, 200), absl::OkStatus());
}

}  // namespace
}  // namespace superfluid::testing
