#include "tools/ctl/generation/generation_loop.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "absl/types/span.h"
#include "tests/tools/ctl/token_worker.h"
#include "tools/ctl/base/command.h"
#include "tools/ctl/generation/generation.h"
#include "tools/ctl/generation/prompt.h"
#include "tools/ctl/generation/tick_session.h"

namespace superfluid::ctl {
namespace {

class NoListener : public GenerationListener {
 public:
  void OnTokens(size_t /*lane*/, uint64_t /*index*/,
                absl::Span<const linkw::Token> /*tokens*/) override {}
  void OnLogits(size_t /*lane*/, uint64_t /*position*/,
                absl::Span<const linkw::TokenLogit> /*logits*/) override {}
};

TEST(GenerationLoopTest, EndsAsStoppedIfItIsStoppedBeforeTheFirstTick) {
  TokenWorker worker;
  Prompt prompt;
  prompt.tokens = {1, 2, 3};
  GlobalOptions global;
  global.socket_path = worker.path();
  auto opened = OpenTickSession(global, prompt, /*lanes=*/2);
  ASSERT_TRUE(std::holds_alternative<TickSession>(opened));
  const auto session = std::move(std::get<TickSession>(opened));
  GenerationPlan plan;
  plan.prompt = prompt.tokens;
  plan.lanes = 2;
  plan.max_tokens = 64;
  NoListener listener;
  GenerationLoop loop(*session.client, *session.rings, plan, global.timeout, listener);
  loop.Stop();
  const GenerationOutcome outcome = loop.Run();
  EXPECT_EQ(outcome.status, linkw::Status::kOk);
  EXPECT_EQ(outcome.ticks, 0u);
  EXPECT_TRUE(outcome.stop.has_value());
  ASSERT_EQ(outcome.lanes.size(), 2u);
  for (const LaneOutcome& lane : outcome.lanes) {
    EXPECT_EQ(lane.finish, linkw::FinishReason::kStopped);
    EXPECT_TRUE(lane.tokens.empty());
  }
  EXPECT_TRUE(worker.Plans().empty());
}

}  // namespace
}  // namespace superfluid::ctl
