// Images in ticks: what is drawn after one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/engine/llama/library_media.h"
#include "tests/engine/llama/media_fixture.h"

namespace superfluid::testing {
namespace {

using ::testing::ElementsAreArray;

constexpr const char* kProjectors[] = {"tiny_mmproj.gguf", "tiny_mmproj_gemma3.gguf"};

class LlamaMediaTest : public MediaFixture {};

TEST_F(LlamaMediaTest, TokensAfterAnImageAreThoseOfTheLibrary) {
  for (const char* projector : kProjectors) {
    LibraryMedia library(ModelFile("tiny_llama.gguf"), ModelFile(projector));
    ASSERT_TRUE(library.good());
    StartWith(projector);
    for (const auto& [before, after] : {std::pair{5, 3}, {0, 1}, {40, 0}, {0, 0}}) {
      const ImagePrompt prompt{Prompt(before, 3), ModelFile(kImage), Prompt(after, 4)};
      const EncodedMedia media = Encode();
      const Script script = ScriptOf(prompt.before, media.info, prompt.after, 20);
      EXPECT_THAT(DrawWith(script, media.handle, prompt.before.size()),
                  ElementsAreArray(library.Greedy(prompt, 20)))
          << projector << " " << before << " " << after;
    }
  }
}

// As a daemon uses them: the begin and end tokens are in the prompt.
TEST_F(LlamaMediaTest, AModelsOwnTokensAroundAnImageAreThePrompts) {
  const std::string model = "tiny_llama_images.gguf";
  const std::string projector = ModelFile("tiny_mmproj_gemma3.gguf");
  LibraryMedia library(ModelFile(model), projector);
  ASSERT_TRUE(library.good());
  Start({{"mmproj", projector}}, model);
  const EncodedMedia media = Encode();
  EXPECT_EQ(media.info.n_tokens, 4U);
  EXPECT_EQ(media.info.boi_token, 765U);
  EXPECT_EQ(media.info.image_token, 766U);
  EXPECT_EQ(media.info.eoi_token, 767U);
  std::vector<Token> before = Prompt(5);
  std::vector<Token> after = Prompt(3, 2);
  const std::vector<Token> expected = library.Greedy({before, ModelFile(kImage), after}, 20);
  before.push_back(media.info.boi_token);
  after.insert(after.begin(), media.info.eoi_token);
  EXPECT_EQ(DrawWith(ScriptOf(before, media.info, after, 20), media.handle, 6), expected);
}

TEST_F(LlamaMediaTest, OtherImagesGiveOtherTokensAndTheSameOneTheSame) {
  const EncodedMedia first = Encode();
  const EncodedMedia second = Encode(kOtherImage);
  const EncodedMedia again = Encode();
  EXPECT_NE(first.handle, again.handle);
  EXPECT_EQ(first.info.preprocess_fp, again.info.preprocess_fp);
  EXPECT_NE(first.info.preprocess_fp, second.info.preprocess_fp);
  const Script script = ScriptOf(Prompt(6), first.info, Prompt(2, 5), 16);
  const std::vector<Token> drawn = DrawWith(script, first.handle, 6);
  EXPECT_EQ(DrawWith(script, again.handle, 6), drawn);
  EXPECT_NE(DrawWith(script, second.handle, 6), drawn);
  // Without one the tokens are what they are.
  EXPECT_NE(Draw(script), drawn);
}

// Counts, for each lane, how often it was asked whether to stop: before each pass.
class CountingHost : public QuietHost {
 public:
  bool LaneStopped(size_t lane) override {
    ++asked.at(lane);
    return false;
  }
  std::array<int, 4> asked{};
};

// Token by token a pass of the least size takes longer than a millisecond, so none becomes larger.
TEST_F(LlamaMediaTest, ImagesAreComputedInPassesOfTheTimeAllowed) {
  StartWith("tiny_mmproj.gguf", {{"exact", "1"}, {"pass_ms", "1"}});
  const EncodedMedia media = Encode();
  ASSERT_EQ(media.info.n_tokens, 16U);
  const Script script = ScriptOf({}, media.info, {7}, 0);
  std::vector<LaneWork> lanes;
  for (size_t i = 0; i < 4; ++i) lanes.push_back(LaneWith(script, media.handle, 0, 0));
  CountingHost host;
  const CancelToken token;
  for (const LaneResult& result : RunTick(lanes, token, host)) {
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(result.position, 17U);
  }
  EXPECT_GE(host.asked[3], 2) << "64 tokens of images, and 32 a pass";
}

TEST_F(LlamaMediaTest, ItMakesNoDifferenceHowThePromptIsCutIntoPasses) {
  for (const char* projector : kProjectors) {
    StartWith(projector);
    const EncodedMedia media = Encode();
    const Script script = ScriptOf(Prompt(30), media.info, Prompt(30, 2), 10);
    const std::vector<Token> expected = DrawWith(script, media.handle, 30);
    for (const LlamaTestOptions& options :
         {LlamaTestOptions{{"batch", "7"}, {"ubatch", "7"}}, {{"ubatch", "5"}}, {{"exact", "1"}}}) {
      StartWith(projector, options);
      EXPECT_EQ(DrawWith(script, Encode().handle, 30), expected) << projector;
    }
  }
}

TEST_F(LlamaMediaTest, LanesWithImagesAndWithoutDrawAsEachAlone) {
  for (const char* projector : kProjectors) {
    for (const char* batch : {"2048", "9"}) {
      StartWith(projector, {{"batch", batch}});
      const EncodedMedia first = Encode();
      const EncodedMedia second = Encode(kOtherImage);
      const Script text = Greedy(Prompt(25, 8), 12);
      const Script short_one = ScriptOf(Prompt(3), first.info, Prompt(4, 2), 12);
      const Script long_one = ScriptOf(Prompt(19), second.info, {}, 12);
      const std::vector<std::vector<Token>> alone = {
          Draw(text), DrawWith(short_one, first.handle, 3), DrawWith(long_one, second.handle, 19)};
      QuietHost host;
      const auto results = RunTick(
          {driver().LaneFor(text, {}, text.prompt, 12), LaneWith(short_one, first.handle, 3, 12),
           LaneWith(long_one, second.handle, 19, 12)},
          {}, host);
      for (size_t i = 0; i < alone.size(); ++i) {
        ASSERT_TRUE(results[i].status.ok()) << results[i].status;
        EXPECT_EQ(results[i].tokens, alone[i]) << projector << " " << batch << " lane " << i;
        EXPECT_EQ(host.emitted[i], alone[i]);
      }
    }
  }
}

TEST_F(LlamaMediaTest, SeveralImagesInOnePromptAndALaterOne) {
  const EncodedMedia first = Encode();
  const EncodedMedia second = Encode(kOtherImage);
  const uint64_t count = first.info.n_tokens;
  Script script = ScriptOf(Prompt(4), first.info, {}, 8);
  const Script rest = ScriptOf({}, second.info, Prompt(3, 2), 8);
  script.prompt.insert(script.prompt.end(), rest.prompt.begin(), rest.prompt.end());
  LaneWork lane = LaneWith(script, second.handle, 4 + count, 8);
  ASSERT_TRUE(generation().BindMedia(lane.tag, first.handle, 4).ok());
  const auto together = driver().RunLane(lane);
  ASSERT_TRUE(together.ok()) << together.status();
  // One after the other, in two ticks.
  const Script begin = ScriptOf(Prompt(4), first.info, {}, 0);
  const auto half = driver().RunLane(LaneWith(begin, first.handle, 4, 0));
  ASSERT_TRUE(half.ok()) << half.status();
  lane = driver().LaneFor(rest, half->sequence, rest.prompt, 8);
  ASSERT_TRUE(generation().BindMedia(lane.tag, second.handle, 0).ok());
  const auto whole = driver().RunLane(lane);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->tokens, together->tokens);
}

TEST_F(LlamaMediaTest, AnImageThatIsCutIsComputedAsFarAsItGoes) {
  LibraryMedia library(ModelFile("tiny_llama.gguf"), ModelFile("tiny_mmproj.gguf"));
  const EncodedMedia media = Encode();
  const Script script = ScriptOf(Prompt(5), media.info, {}, 0);
  const auto made = driver().RunLane(LaneWith(script, media.handle, 5, 0));
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(driver().TrimAll(made->sequence, 5 + 7).ok());
  const auto fork = generation().Fork(made->sequence, 0);
  ASSERT_TRUE(fork.ok());
  for (const auto& [sequence, after] :
       {std::pair{made->sequence, Prompt(3, 9)}, {*fork, std::vector<Token>{}}}) {
    const auto drawn = driver().RunLane(driver().LaneFor(script, sequence, after, 12));
    ASSERT_TRUE(drawn.ok()) << drawn.status();
    EXPECT_EQ(drawn->tokens, library.Greedy({Prompt(5), ModelFile(kImage), after}, 12, 7));
  }
  EXPECT_TRUE(generation_->CheckInvariants());
}

TEST_F(LlamaMediaTest, DraftsAfterAnImage) {
  const EncodedMedia media = Encode();
  const Script script = ScriptOf(Prompt(5), media.info, {}, 10);
  const std::vector<Token> expected = DrawWith(script, media.handle, 5);
  LaneWork lane = LaneWith(script, media.handle, 5, 10);
  lane.kind = LaneKind::kVerify;
  lane.drafts = absl::MakeConstSpan(expected).first(6);
  const auto verified = driver().RunLane(lane);
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_EQ(verified->accepted_drafts, 6U);
  EXPECT_TRUE(
      SameTokens(verified->tokens, absl::MakeConstSpan(expected).first(verified->tokens.size()))
          .ok());
}

// Set from the n-th time on that somebody looks.
struct Countdown {
  uint64_t looks = 0;
  uint64_t set_at = 0;
};

CancelReason Look(void* context) noexcept {
  auto* countdown = static_cast<Countdown*>(context);
  return ++countdown->looks > countdown->set_at ? CancelReason::kRequested : CancelReason::kNone;
}

TEST_F(LlamaMediaTest, CancelledAtAnyMomentALaneGoesOnAsIfNothingHadBeen) {
  for (const char* projector : kProjectors) {
    StartWith(projector);
    const EncodedMedia media = Encode();
    const Script script = ScriptOf(Prompt(20), media.info, Prompt(10, 2), 3);
    const std::vector<Token> expected = DrawWith(script, media.handle, 20);
    bool finished = false;
    for (uint64_t look = 0; !finished; look += 9) {
      ASSERT_LT(look, 10'000U);
      Countdown countdown{0, look};
      QuietHost host;
      const auto results =
          RunTick({LaneWith(script, media.handle, 20, 3)}, CancelToken(&Look, &countdown), host);
      ASSERT_TRUE(results[0].status.ok()) << results[0].status;
      ASSERT_TRUE(generation_->CheckInvariants()) << look;
      finished = results[0].finish != FinishReason::kStopped;
      EXPECT_EQ(driver().Continue(script, expected, results[0].sequence, results[0].position),
                absl::OkStatus())
          << projector << " " << look;
      ASSERT_TRUE(driver().Free(results[0].sequence).ok());
    }
    EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  }
}

}  // namespace
}  // namespace superfluid::testing
