#include "tools/ctl/speech/transcript_printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/tools/ctl/sample_transcript.h"
#include "tests/tools/ctl/string_output.h"
#include "tools/ctl/formats/human_format.h"
#include "tools/ctl/formats/srt_format.h"

namespace superfluid::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr absl::Duration kNow = absl::Seconds(1);

class TranscriptPrinterTest : public testing::Test {
 protected:
  TranscriptPrinter MakePrinter(Output* terminal, bool partials_in_bar = false) {
    return {std::make_unique<HumanFormat>(HumanFormat::Options{}),
            &out_,
            terminal,
            {.partials_in_bar = partials_in_bar}};
  }

  StringOutput out_;
  StringOutput terminal_;
};

TEST_F(TranscriptPrinterTest, WritesEachSegmentWhenItComes) {
  TranscriptPrinter printer = MakePrinter(nullptr);
  ASSERT_TRUE(printer.Begin().ok());
  ASSERT_TRUE(printer.OnSegment(MakeSegment(0, 1230, 3450, "one two"), kNow).ok());
  EXPECT_EQ(out_.text, "[00:00:01.230 --> 00:00:03.450] one two\n");
  EXPECT_EQ(printer.first_segment(), kNow);
}

TEST_F(TranscriptPrinterTest, AddsSegmentsThatOnlyTheAnswerHas) {
  TranscriptPrinter printer(std::make_unique<SrtFormat>(), &out_, nullptr, {});
  ASSERT_TRUE(printer.OnSegment(MakeSegment(0, 1230, 3450, "one two"), kNow).ok());
  out_.text.clear();
  ASSERT_TRUE(printer.OnEnd(MakeOutcome()).ok());
  EXPECT_EQ(out_.text, "2\n00:00:04,000 --> 00:00:05,000\nthree\n\n");
}

TEST_F(TranscriptPrinterTest, DoesNotRepeatWhatWasStreamed) {
  TranscriptPrinter printer(std::make_unique<SrtFormat>(), &out_, nullptr, {});
  const TranscriptionOutcome outcome = MakeOutcome();
  for (const linkw::TranscriptSegment& segment : outcome.result.segments) {
    ASSERT_TRUE(printer.OnSegment(linkw::TranscribeSegment{segment}, kNow).ok());
  }
  out_.text.clear();
  ASSERT_TRUE(printer.OnEnd(outcome).ok());
  EXPECT_EQ(out_.text, "");
}

TEST_F(TranscriptPrinterTest, RemovesTheBarBeforeItWrites) {
  TranscriptPrinter printer = MakePrinter(&terminal_);
  printer.OnIdle(kNow, 0);
  EXPECT_THAT(terminal_.text, HasSubstr("1.0 s, no text yet"));
  printer.OnIdle(kNow, 1500);
  EXPECT_THAT(terminal_.text, HasSubstr("0:01.5  1.5x"));
  terminal_.text.clear();
  ASSERT_TRUE(printer.OnSegment(MakeSegment(0, 0, 5000, "one"), kNow).ok());
  EXPECT_THAT(terminal_.text, StartsWith("\r\x1b[K\r 50% ["));
  terminal_.text.clear();
  printer.ClearProgress();
  EXPECT_EQ(terminal_.text, "\r\x1b[K");
}

TEST_F(TranscriptPrinterTest, ShowsPartialSegmentsInTheBarIfThereIsOne) {
  TranscriptPrinter with_bar = MakePrinter(&terminal_, /*partials_in_bar=*/true);
  ASSERT_TRUE(with_bar.OnSegment(MakePartial(0, 0, 1000, "maybe"), kNow).ok());
  EXPECT_EQ(out_.text, "");
  EXPECT_THAT(terminal_.text, HasSubstr("maybe"));
  ASSERT_TRUE(with_bar.OnSegment(MakeSegment(0, 0, 1000, "surely"), kNow).ok());
  EXPECT_THAT(out_.text, HasSubstr("surely"));
  EXPECT_THAT(terminal_.text, Not(HasSubstr("surely")));

  out_.text.clear();
  TranscriptPrinter without_bar = MakePrinter(nullptr, /*partials_in_bar=*/true);
  ASSERT_TRUE(without_bar.OnSegment(MakePartial(0, 0, 1000, "maybe"), kNow).ok());
  EXPECT_THAT(out_.text, HasSubstr("(so far) maybe"));
}

TEST_F(TranscriptPrinterTest, KeepsFinalSegmentsForALostAnswer) {
  TranscriptPrinter printer = MakePrinter(nullptr);
  ASSERT_TRUE(printer.OnSegment(MakeSegment(0, 0, 1000, "one"), kNow).ok());
  ASSERT_TRUE(printer.OnSegment(MakePartial(1, 1000, 1500, "tw"), kNow).ok());
  ASSERT_TRUE(printer.OnSegment(MakeSegment(1, 1000, 2000, "two"), kNow).ok());
  const linkw::TranscribeResult result = printer.ResultSoFar();
  EXPECT_EQ(result.text, "one two");
  EXPECT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.duration_ms, 2000);
}

TEST_F(TranscriptPrinterTest, ReportsAnOutputThatFails) {
  TranscriptPrinter printer = MakePrinter(nullptr);
  out_.fail_with = absl::AbortedError("gone");
  EXPECT_TRUE(absl::IsAborted(printer.OnSegment(MakeSegment(0, 0, 1, "x"), kNow)));
  EXPECT_TRUE(absl::IsAborted(printer.OnEnd(MakeOutcome())));
}

}  // namespace
}  // namespace superfluid::ctl
