// Several transcriptions on few states of the library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/engine_fixture.h"

namespace superfluid {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// A client that is connected and says nothing.
class NobodySpeaks : public AudioSource {
 public:
  absl::StatusOr<Block> Read(absl::Span<float> /*out*/) override {
    return Block{.frames = 0, .state = State::kStarved};
  }
  std::optional<absl::Duration> TotalDuration() const override { return std::nullopt; }
  bool IsLive() const override { return true; }
};

class WhisperStatesTest : public WhisperFixture {
 protected:
  uint64_t Taken() { return engine_->Memory().pool_blocks_used; }

  // Steps a job, and lets it deliver into `sink`. Returns whether it is done.
  bool Step(TranscriptionJob& job, SegmentSink& sink) {
    const absl::StatusOr<StepOutcome> outcome = job.Step({}, token_, sink);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return !outcome.ok() || *outcome == StepOutcome::kDone;
  }

  CancelToken token_;
};

TEST_F(WhisperStatesTest, WhoHasNothingToDecodeHoldsNoState) {
  Make(WhisperConfig({{"states", "1"}, {"temperature_inc", "0"}}));
  const Transcript expected = Hear(Babble(4, 1));
  ASSERT_THAT(expected.segments, Not(IsEmpty()));
  std::vector<std::unique_ptr<TranscriptionJob>> idle;
  KeepSegments sink;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(Start(std::make_unique<NobodySpeaks>()));
    absl::StatusOr<StepOutcome> outcome = StepOutcome::kMore;
    while (outcome.ok() && *outcome == StepOutcome::kMore) {
      outcome = idle.back()->Step({}, token_, sink);
    }
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ASSERT_EQ(*outcome, StepOutcome::kWaitingForAudio);
  }
  EXPECT_EQ(Taken(), 0U);
  const Transcript heard = Hear(Babble(4, 1));
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  EXPECT_EQ(Describe(heard.segments), Describe(expected.segments));
}

// Its reader is slow, say: it is not stepped, and what it had made waits for it.
TEST_F(WhisperStatesTest, WhoWaitsForTheStateOfOneThatIsPausedGetsIt) {
  Make(WhisperConfig({{"states", "1"}, {"temperature_inc", "0"}}));
  const Transcript first_alone = Hear(Babble(4, 1));
  const Transcript second_alone = Hear(Babble(5, 2));
  KeepSegments sink;
  const std::unique_ptr<TranscriptionJob> first = Start(Samples(Babble(4, 1)));
  while (Taken() == 0) Step(*first, sink);
  ASSERT_THAT(sink.finals, IsEmpty());
  const std::unique_ptr<TranscriptionJob> second = Start(Samples(Babble(5, 2)));
  EXPECT_EQ(Describe(Finish(*second).segments), Describe(second_alone.segments));
  EXPECT_EQ(Describe(Finish(*first).segments), Describe(first_alone.segments));
  EXPECT_EQ(Taken(), 0U);
}

TEST_F(WhisperStatesTest, ManyInTurnsGiveWhatEachGivesAlone) {
  Make(WhisperConfig({{"states", "2"}}));
  std::vector<std::string> alone;
  std::vector<std::unique_ptr<TranscriptionJob>> jobs;
  for (uint32_t i = 0; i < 5; ++i) alone.push_back(Describe(Hear(Babble(3 + i, i)).segments));
  for (uint32_t i = 0; i < 5; ++i) jobs.push_back(Start(Samples(Babble(3 + i, i))));
  std::vector<KeepSegments> sinks(5);
  std::vector<bool> done(5, false);
  for (size_t left = 5; left > 0;) {
    for (size_t i = 0; i < 5; ++i) {
      if (done[i]) continue;
      done[i] = Step(*jobs[i], sinks[i]);
      if (done[i]) --left;
      EXPECT_LE(Taken(), 2U);
    }
  }
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(Describe(sinks[i].finals), alone[i]) << i;
}

TEST_F(WhisperStatesTest, ACancelOfOneThatHelpsHarmsNobody) {
  Make(WhisperConfig({{"states", "1"}, {"temperature_inc", "0"}}));
  const Transcript alone = Hear(Babble(4, 1));
  KeepSegments sink;
  const std::unique_ptr<TranscriptionJob> first = Start(Samples(Babble(4, 1)));
  while (Taken() == 0) Step(*first, sink);
  std::unique_ptr<TranscriptionJob> second = Start(Samples(Babble(5, 2)));
  for (int i = 0; i < 3; ++i) Step(*second, sink);
  CancelToken cancelled;
  cancelled.Cancel(CancelReason::kRequested, 1);
  EXPECT_TRUE(absl::IsCancelled(second->Step({}, cancelled, sink).status()));
  second.reset();
  EXPECT_EQ(Describe(Finish(*first).segments), Describe(alone.segments));
}

TEST_F(WhisperStatesTest, TheLanguageIsFixedOnlyByAWindowWithSpeech) {
  // Of each window the language is looked for until it is known, which takes steps.
  const auto steps = [this](const char* no_speech) {
    Make(WhisperConfig(
        {{"no_speech_thold", no_speech}, {"logprob_thold", "-10"}, {"temperature_inc", "0"}}));
    const Transcript heard = Hear(Babble(68, 4), {});
    EXPECT_THAT(heard.segments, Not(IsEmpty()));
    EXPECT_NE(heard.progress.language, "und");
    return heard.step_ms.size();
  };
  const size_t when_known_at_once = steps("1");
  EXPECT_GT(steps("0"), when_known_at_once) << "text of what is no speech fixed the language";
}

}  // namespace
}  // namespace superfluid
