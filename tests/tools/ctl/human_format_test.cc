#include "tools/ctl/formats/human_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/ctl/sample_transcript.h"

namespace superfluid::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kNow = absl::Seconds(1);

TEST(HumanFormatTest, WritesSegmentsThenTheTextAndTheFigures) {
  HumanFormat format({});
  EXPECT_EQ(format.Begin(), "");
  EXPECT_EQ(format.Segment(MakeSegment(0, 1230, 3450, " one two"), kNow),
            "[00:00:01.230 --> 00:00:03.450] one two\n");
  EXPECT_EQ(format.End(MakeOutcome()),
            "\n"
            "one two three\n"
            "\n"
            "audio        00:00:10.000\n"
            "elapsed      2.00 s\n"
            "real time    factor 0.200 (5.0 times faster than the audio)\n"
            "language     en\n"
            "engine steps 1001 (1.90 s inside the engine, 250 us in its queue)\n");
}

TEST(HumanFormatTest, LeavesOutTimesWhenTold) {
  HumanFormat format({.timestamps = false});
  EXPECT_EQ(format.Segment(MakeSegment(0, 1230, 3450, "one two"), kNow), "one two\n");
  EXPECT_THAT(format.End(MakeOutcome()), testing::StartsWith("\naudio  "))
      << "the text came before";
}

TEST(HumanFormatTest, ListsWordsWhenTold) {
  HumanFormat format({.words = true});
  linkw::TranscribeSegment segment{MakeOutcome().result.segments[0]};
  EXPECT_EQ(format.Segment(segment, kNow),
            "[00:00:01.230 --> 00:00:03.450] one two\n"
            "    00:00:01.230 --> 00:00:02.000  0.90  one\n"
            "    00:00:02.000 --> 00:00:03.450  0.50  two\n");
}

TEST(HumanFormatTest, TellsPartialSegmentsApart) {
  HumanFormat format({});
  EXPECT_EQ(format.Segment(MakePartial(0, 0, 1000, "one"), kNow),
            "[00:00:00.000 --> 00:00:01.000] (so far) one\n");
}

TEST(HumanFormatTest, KeepsControlCharactersFromTheTerminal) {
  HumanFormat format({.timestamps = false});
  EXPECT_EQ(format.Segment(MakeSegment(0, 0, 1, "a\x1b[2Jb\nc"), kNow), "a [2Jb c\n");
}

TEST(HumanFormatTest, SaysThatThereWasNoSpeech) {
  HumanFormat format({});
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.result.text = "";
  outcome.result.segments.clear();
  EXPECT_THAT(format.End(outcome), testing::StartsWith("(no speech)\n\n"));
  outcome.status = linkw::Status::kCancelled;  // there may have been some later
  EXPECT_THAT(format.End(outcome), testing::StartsWith("(no text yet)\n\n"));
}

TEST(HumanFormatTest, AddsNothingToAnErrorThatLeftNothing) {
  HumanFormat format({});
  TranscriptionOutcome outcome;
  outcome.status = linkw::Status::kNotFound;
  EXPECT_EQ(format.End(outcome), "");
}

TEST(HumanFormatTest, ShowsWhatACancelLeft) {
  HumanFormat format({});
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = linkw::Status::kCancelled;
  outcome.result.duration_ms = 4000;
  const std::string end = format.End(outcome);
  // What there is text of, however much was read.
  EXPECT_THAT(end, HasSubstr("transcribed  00:00:05.000 of 00:00:10.000\n"));
  EXPECT_THAT(end, Not(HasSubstr("real time")));
  EXPECT_EQ(RealTimeFactorText(outcome), "");
}

TEST(HumanFormatTest, GivesNoFactorWithoutAudio) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.result.duration_ms = 0;
  EXPECT_EQ(RealTimeFactorText(outcome), "");
  HumanFormat format({});
  EXPECT_THAT(format.End(outcome), Not(HasSubstr("real time")));
}

TEST(HumanFormatTest, SaysNeitherWhenItWasAsFast) {
  TranscriptionOutcome outcome = MakeOutcome();
  for (const int64_t ms : {9'700, 10'000, 10'300}) {
    outcome.figures.elapsed = absl::Milliseconds(ms);
    EXPECT_THAT(RealTimeFactorText(outcome), HasSubstr("(as fast as the audio)"));
  }
}

TEST(HumanFormatTest, SaysSlowerWhenItWasSlower) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.figures.elapsed = absl::Seconds(25);
  EXPECT_EQ(RealTimeFactorText(outcome), "factor 2.500 (2.5 times slower than the audio)");
}

}  // namespace
}  // namespace superfluid::ctl
