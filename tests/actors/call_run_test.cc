#include "actors/engine/call_run.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "actors/engine/capabilities.h"
#include "gtest/gtest.h"
#include "tests/actors/fake_generation.h"

namespace superfluid {
namespace {

using linkw::Status;

class CallRunTest : public testing::Test {
 protected:
  linkw::StateSyncResult Call(linkw::StateSyncCall call) {
    CallRun run(*engine_, link_, context_, control_, {.segment = segment_, .file = file_});
    return std::get<linkw::StateSyncResult>(run.Run(linkw::StateSyncRequest{std::move(call)}));
  }
  Status StatusOf(linkw::StateSyncCall call) { return Call(std::move(call)).status; }
  const std::vector<std::string>& calls() { return engine_->fake().calls; }

  // Attaches rings, and asks for a lease on three tokens of one.
  linkw::SeedAcquire AcquireOfThreeTokens() {
    link_.rings = TickRings::Open(RingsOfTest::Again(rings_.in.segment()),
                                  RingsOfTest::Again(rings_.out.segment()),
                                  RingsOfTest::Again(rings_.logits.segment()))
                      .value();
    const SpanRef span = rings_.in.Write(0, {{1, 2, 3}}, 0).value();
    linkw::SeedAcquire acquire;
    acquire.span = {linkw::RingId{span.ring}, span.slot, span.generation, 0, 3};
    acquire.prefix_len = 3;
    return acquire;
  }

  RingsOfTest rings_;
  std::unique_ptr<FakeEngine> engine_ = std::make_unique<FakeEngine>();
  EngineLink link_;
  CallContext context_;
  CancelToken token_;
  int signs_of_life_ = 0;
  CallControl control_{token_, [this] { ++signs_of_life_; }};
  std::shared_ptr<const Segment> segment_;
  std::optional<absl::StatusOr<std::string>> file_;
};

TEST_F(CallRunTest, AnEngineWithoutGenerationLacksTheCalls) {
  engine_ = std::make_unique<FakeEngine>(false);
  EXPECT_EQ(StatusOf(linkw::CreateSequence{}), Status::kUnsupported);
  EXPECT_EQ(StatusOf(linkw::Capabilities{}), Status::kOk);
}

TEST_F(CallRunTest, WhatTheEngineDoesNotOverrideIsUnsupported) {
  EXPECT_EQ(StatusOf(linkw::CacheEvict{}), Status::kUnsupported);
  EXPECT_EQ(StatusOf(linkw::LoraUnload{}), Status::kUnsupported);
}

TEST_F(CallRunTest, WhatTheCapabilitiesDoNotListIsUnsupportedWhateverElseIsWrong) {
  context_.listed = ListedCalls(R"({"calls": ["embed", 7]})");
  EXPECT_EQ(StatusOf(linkw::FreeGrammar{linkw::GrammarHandle{5}}), Status::kUnsupported);
  EXPECT_EQ(StatusOf(linkw::LoraLoad{"../x"}), Status::kUnsupported);
  EXPECT_EQ(StatusOf(linkw::CreateSequence{}), Status::kUnsupported);
  EXPECT_EQ(StatusOf(linkw::Embed{.tokens = {1}}), Status::kOk);
  EXPECT_EQ(StatusOf(linkw::Capabilities{}), Status::kOk);
  EXPECT_EQ(ListedCalls("{}"), std::nullopt);
  EXPECT_EQ(ListedCalls("rubbish"), std::nullopt);
}

TEST_F(CallRunTest, KnowsTheHandlesThatItGave) {
  const auto made = Call(linkw::CreateSequence{});
  const auto sequence = std::get<linkw::CreateSequenceResult>(made.reply).sequence;
  const auto forked = Call(linkw::Fork{.parent = sequence});
  EXPECT_EQ(forked.status, Status::kOk) << forked.message;
  EXPECT_EQ(StatusOf(linkw::FreeSequence{.sequence = sequence}), Status::kOk);
  EXPECT_EQ(StatusOf(linkw::FreeSequence{.sequence = sequence}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::Fork{.parent = sequence}), Status::kUnknownHandle);
  EXPECT_EQ(calls(), (std::vector<std::string>{"create_sequence", "fork", "free_sequence"}));
}

TEST_F(CallRunTest, ABogusHandleNeverReachesTheEngine) {
  const linkw::SequenceId bogus{0xDEADBEEFDEADBEEF};
  EXPECT_EQ(StatusOf(linkw::Fork{.parent = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::Trim{.sequence = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::ExportSize{.sequence = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::SnapshotBoundary{.sequence = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::FreeSequence{.sequence = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::PublishSequence{.sequence = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::AdoptSequence{.sequence = bogus}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::FreeGrammar{linkw::GrammarHandle{5}}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::FreeLogitBias{linkw::LogitBiasHandle{5}}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::MediaRelease{linkw::MediaHandle{5}}), Status::kUnknownHandle);
  EXPECT_EQ(StatusOf(linkw::MediaBind{.media_handle = linkw::MediaHandle{5}}),
            Status::kUnknownHandle);
  EXPECT_TRUE(calls().empty());
}

TEST_F(CallRunTest, TokensAreCheckedAgainstTheVocabulary) {
  EXPECT_EQ(StatusOf(linkw::Embed{.tokens = {1, 999}}), Status::kOk);
  EXPECT_EQ(StatusOf(linkw::Embed{.tokens = {1, 1000}}), Status::kInvalidArgument);
  EXPECT_EQ(StatusOf(linkw::CreateLogitBias{.tokens = {1000}, .values = {1}}),
            Status::kInvalidArgument);
  EXPECT_EQ(StatusOf(linkw::CreateLogitBias{.tokens = {1}, .values = {}}),
            Status::kInvalidArgument);
}

TEST_F(CallRunTest, SpansNeedRings) {
  EXPECT_EQ(StatusOf(linkw::Unpublish{}), Status::kFailedPrecondition);
}

TEST_F(CallRunTest, AnEngineThatGivesAHandleTwiceIsFoundOut) {
  Call(linkw::CreateSequence{});
  engine_->fake().next_handle = 1;
  EXPECT_EQ(StatusOf(linkw::CreateSequence{}), Status::kEngineFailed);
  engine_->fake().next_handle = 0;
  EXPECT_EQ(StatusOf(linkw::CreateSequence{}), Status::kEngineFailed);
}

TEST_F(CallRunTest, TheEngineReadsTheCopyOfAFileAndAFileThatIsMissingIsNoUnknownHandle) {
  file_ = "/proc/self/fd/7";
  const auto loaded = Call(linkw::LoraLoad{"adapter"});
  EXPECT_EQ(std::get<linkw::LoraIdResult>(loaded.reply).lora_id, linkw::LoraId{3});
  EXPECT_EQ(calls(), (std::vector<std::string>{"load_adapter /proc/self/fd/7"}));
  file_ = linkw::MakeStatus(Status::kNotFound, "there is no file");
  EXPECT_EQ(StatusOf(linkw::LoraLoad{"missing"}), Status::kNotFound);
  EXPECT_EQ(StatusOf(linkw::MediaProbe{"missing"}), Status::kNotFound);
  EXPECT_EQ(StatusOf(linkw::MediaEncode{"missing"}), Status::kNotFound);
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(CallRunTest, ACallShowsThatItIsAlive) {
  EXPECT_EQ(StatusOf(linkw::Embed{.tokens = {1}}), Status::kOk);
  EXPECT_EQ(signs_of_life_, 1);
}

TEST_F(CallRunTest, ACallThatWasToldToStopSaysWhy) {
  token_.Cancel(CancelReason::kDeadline, 1);
  const auto answer = Call(linkw::Embed{.tokens = {1}});
  EXPECT_EQ(answer.status, Status::kDeadlineExceeded);
  EXPECT_EQ(answer.message, "the deadline passed");
}

TEST_F(CallRunTest, HiddenStateHasToLieInItsBuffer) {
  segment_ = std::make_shared<const Segment>(Segment::Create(4096, "hidden").value());
  for (const linkw::BufferSpan& span : {linkw::BufferSpan{.offset = 4000, .length = 97},
                                        linkw::BufferSpan{.offset = ~uint64_t{0}, .length = 2}}) {
    EXPECT_EQ(StatusOf(linkw::ForwardStage{.hidden_in = span}), Status::kInvalidArgument);
  }
}

TEST_F(CallRunTest, HiddenStateIsBoundedWhateverTheBufferIs) {
  // Sparse: it takes no memory until somebody copies it.
  segment_ = std::make_shared<const Segment>(Segment::Create(uint64_t{1} << 40, "huge").value());
  const linkw::BufferSpan all{.offset = 0, .length = uint64_t{1} << 40};
  EXPECT_EQ(StatusOf(linkw::ForwardStage{.hidden_in = all}), Status::kInvalidArgument);
}

TEST_F(CallRunTest, AHiddenStateInABufferIsCopiedInParts) {
  constexpr uint64_t kBytes = uint64_t{32} << 20;
  segment_ = std::make_shared<const Segment>(Segment::Create(kBytes, "hidden").value());
  const linkw::BufferSpan all{.offset = 0, .length = kBytes};
  StatusOf(linkw::ForwardStage{.hidden_in = all});
  EXPECT_GE(signs_of_life_, 4);
  token_.Cancel(CancelReason::kRequested, 1);
  EXPECT_EQ(StatusOf(linkw::ForwardStage{.hidden_in = all}), Status::kCancelled);
}

TEST_F(CallRunTest, ReleasesASeedOnce) {
  linkw::SeedAcquire acquire = AcquireOfThreeTokens();
  acquire.prefix_len = 4;
  CallRun run(*engine_, link_, context_, control_, {});
  EXPECT_EQ(std::get<linkw::SeedGrant>(run.Run(acquire)).status, Status::kInvalidArgument);
  acquire.prefix_len = 3;
  const auto grant = std::get<linkw::SeedGrant>(run.Run(acquire));
  EXPECT_EQ(grant.status, Status::kOk) << grant.message;
  EXPECT_EQ(grant.ttl_ms, 5);
  run.Run(linkw::SeedRelease{grant.seed_handle});
  run.Run(linkw::SeedRelease{grant.seed_handle});
  run.Run(linkw::SeedRelease{linkw::SeedHandle{77}});
  EXPECT_EQ(calls(), (std::vector<std::string>{"acquire_seed", "release_seed"}));
}

// A lease ends by itself when it is adopted or expires; nobody has to say so.
TEST_F(CallRunTest, LeasesThatWereNeverReleasedDoNotAddUp) {
  const linkw::SeedAcquire acquire = AcquireOfThreeTokens();
  for (int i = 0; i < 70'000; ++i) {
    CallRun run(*engine_, link_, context_, control_, {});
    ASSERT_EQ(std::get<linkw::SeedGrant>(run.Run(acquire)).status, Status::kOk) << i;
  }
  EXPECT_LE(link_.handles.size(HandleKind::kSeed), HandleBook::kMost);
}

TEST_F(CallRunTest, AnEngineMayUseTheHandleOfALeaseThatIsOverAgain) {
  const linkw::SeedAcquire acquire = AcquireOfThreeTokens();
  CallRun run(*engine_, link_, context_, control_, {});
  const auto first = std::get<linkw::SeedGrant>(run.Run(acquire));
  engine_->fake().next_handle = static_cast<uint64_t>(first.seed_handle);
  const auto second = std::get<linkw::SeedGrant>(run.Run(acquire));
  EXPECT_EQ(second.status, Status::kOk) << second.message;
  run.Run(linkw::SeedRelease{second.seed_handle});
  run.Run(linkw::SeedRelease{second.seed_handle});
  EXPECT_EQ(calls(), (std::vector<std::string>{"acquire_seed", "acquire_seed", "release_seed"}));
}

TEST_F(CallRunTest, KnowsWhichSequencesMayBeEmpty) {
  const auto made = Call(linkw::CreateSequence{});
  const auto sequence = std::get<linkw::CreateSequenceResult>(made.reply).sequence;
  EXPECT_TRUE(link_.maybe_empty.contains(static_cast<uint64_t>(sequence)));
  const auto forked = Call(linkw::Fork{.parent = sequence});
  const auto child = std::get<linkw::ForkResult>(forked.reply).child;
  EXPECT_TRUE(link_.maybe_empty.contains(static_cast<uint64_t>(child)));
  Call(linkw::FreeSequence{.sequence = sequence});
  Call(linkw::FreeSequence{.sequence = child});
  EXPECT_TRUE(link_.maybe_empty.empty());
}

TEST(CapabilitiesTest, TheWorkerAddsWhatItKnows) {
  EngineInfo info;
  info.name = "mine";
  info.vocab_size = 256;
  const std::string added = CompleteCapabilities(R"({"calls":["tick"]})", info, true);
  EXPECT_NE(added.find(R"("engine":"mine")"), std::string::npos) << added;
  EXPECT_NE(added.find(R"("vocab_size":256)"), std::string::npos) << added;
  EXPECT_EQ(added.find("max_transcriptions"), std::string::npos) << added;
  info.max_transcriptions = 4;
  const std::string speech = CompleteCapabilities("{}", info, false);
  EXPECT_NE(speech.find(R"("max_transcriptions":4)"), std::string::npos) << speech;
  EXPECT_NE(CompleteCapabilities(R"({"engine":"own"})", info, true).find(R"("engine":"own")"),
            std::string::npos)
      << "the engine's own word stays";
  EXPECT_EQ(CompleteCapabilities("rubbish", info, true), "rubbish");
}

}  // namespace
}  // namespace superfluid
