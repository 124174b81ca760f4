// The parts of the decoder that need no process.

#include <algorithm>
#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "tools/decode/report_text.h"
#include "tools/decode/timeline.h"

namespace superfluid::decode {
namespace {

TEST(TimelineTest, IgnoresJitter) {
  Timeline timeline;
  EXPECT_EQ(timeline.SilenceBefore(0.4, 0), 0);
  EXPECT_EQ(timeline.SilenceBefore(9.8, 10), 0);
  EXPECT_EQ(timeline.SilenceBefore(std::nan(""), 10), 0);
}

TEST(TimelineTest, FillsWhatIsMissing) {
  Timeline timeline;
  EXPECT_DOUBLE_EQ(timeline.SilenceBefore(2, 0), 2);
  EXPECT_DOUBLE_EQ(timeline.SilenceBefore(12.5, 3), 9.5);
}

TEST(TimelineTest, GoesOnBehindABrokenStamp) {
  Timeline timeline;
  EXPECT_EQ(timeline.SilenceBefore(100'000, 10), 0);
  EXPECT_EQ(timeline.SilenceBefore(100'001, 11), 0);
  EXPECT_DOUBLE_EQ(timeline.SilenceBefore(100'005, 12), 3);
  EXPECT_EQ(timeline.SilenceBefore(0, 15), 0);  // it began anew
  EXPECT_EQ(timeline.SilenceBefore(1, 16), 0);
}

DecodeReport ReportOf(DecodeOutcome outcome, const std::string& text) {
  DecodeReport report = {.outcome = outcome};
  std::copy(text.begin(), text.end(), report.text.begin());
  return report;
}

TEST(SummaryOfTest, IsNoMoreThanTheReportMaySay) {
  DecodeReport report = ReportOf(DecodeOutcome::kDone, "good\x1b[2Jevil");
  report.container.fill('m');  // without an end
  const absl::StatusOr<DecodeSummary> summary = SummaryOf(report);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->note, "good");
  EXPECT_EQ(summary->container, std::string(kReportNameBytes, 'm'));
}

TEST(SummaryOfTest, HasACodeForEachOutcome) {
  EXPECT_TRUE(
      absl::IsResourceExhausted(SummaryOf(ReportOf(DecodeOutcome::kTooLong, "x")).status()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(SummaryOf(ReportOf(DecodeOutcome::kOutOfMemory, "x")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SummaryOf(ReportOf(DecodeOutcome::kNoAudio, "x")).status()));
  EXPECT_TRUE(absl::IsInternal(SummaryOf(ReportOf(DecodeOutcome::kInternal, "")).status()));
  EXPECT_TRUE(absl::IsInternal(SummaryOf(ReportOf(DecodeOutcome{77}, "x")).status()));
}

}  // namespace
}  // namespace superfluid::decode
