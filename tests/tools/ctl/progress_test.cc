#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tools/ctl/string_output.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/terminal/loading_line.h"
#include "tools/ctl/terminal/progress_bar.h"
#include "tools/ctl/terminal/progress_line.h"

namespace superfluid::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

Progress Sample() {
  return {
      .audio_ms = 12'300, .audio_total_ms = 24'600, .elapsed = absl::Seconds(3), .hypothesis = ""};
}

linkw::Pong Loading(uint32_t permille) {
  linkw::Pong pong;
  pong.engine_state = linkw::EngineState::kLoading;
  pong.load_permille = permille;
  return pong;
}

TEST(LoadingLineTest, IsRedrawnOnATerminalAndGoneAtTheEnd) {
  StringOutput terminal;
  StringOutput text;
  LoadingLine line(&terminal, &text);
  line.Clear();
  EXPECT_EQ(terminal.text, "");
  line.Show(Loading(0));
  line.Show(Loading(427));
  EXPECT_EQ(terminal.text,
            "\rthe worker loads its engine\x1b[K\rthe worker loads its engine: 42 %\x1b[K");
  terminal.text.clear();
  line.Clear();
  line.Clear();
  EXPECT_EQ(terminal.text, "\r\x1b[K");
  EXPECT_EQ(text.text, "");
}

TEST(LoadingLineTest, IsOneLineElsewhere) {
  StringOutput text;
  LoadingLine line(nullptr, &text);
  line.Show(Loading(10));
  line.Show(Loading(20));
  line.Clear();
  EXPECT_EQ(text.text, "superfluidctl: the worker still loads its engine; waiting\n");
}

TEST(ProgressBarTest, ShowsPercentBarPositionAndSpeed) {
  EXPECT_EQ(RenderProgress(Sample(), 80),
            " 50% [===============>              ] 0:12.3 / 0:24.6  4.1x");
}

TEST(ProgressBarTest, IsFullAtTheEnd) {
  Progress progress = Sample();
  progress.audio_ms = progress.audio_total_ms;
  EXPECT_THAT(RenderProgress(progress, 80), HasSubstr("100% [==============================] "));
}

TEST(ProgressBarTest, DoesNotOverflowWhenTheTotalWasTooLow) {
  Progress progress = Sample();
  progress.audio_ms = 99'000;
  EXPECT_THAT(RenderProgress(progress, 80), HasSubstr("100% [==============================] "));
  progress.audio_ms = -5;
  EXPECT_THAT(RenderProgress(progress, 80), HasSubstr("  0% [>"));
}

TEST(ProgressBarTest, HasNoBarWithoutATotal) {
  Progress progress = Sample();
  progress.audio_total_ms = 0;
  EXPECT_EQ(RenderProgress(progress, 80), "0:12.3  4.1x");
}

TEST(ProgressBarTest, MovesWhileNothingIsKnown) {
  Progress progress = {.elapsed = absl::Milliseconds(400)};
  EXPECT_EQ(RenderProgress(progress, 80), "[  <=>                         ] 0.4 s, no text yet");
  progress.elapsed = absl::Milliseconds(5400);
  EXPECT_EQ(RenderProgress(progress, 80), "[                           <=>] 5.4 s, no text yet");
  progress.elapsed = absl::Milliseconds(5600);
  EXPECT_EQ(RenderProgress(progress, 80), "[                          <=> ] 5.6 s, no text yet");
  for (size_t columns = 0; columns < 120; ++columns) {
    EXPECT_LE(ColumnsOf(RenderProgress(progress, columns)), columns);
  }
}

TEST(ProgressBarTest, GetsShorterWithTheTerminal) {
  EXPECT_EQ(RenderProgress(Sample(), 45), " 50% [========>       ] 0:12.3 / 0:24.6  4.1x");
  EXPECT_EQ(RenderProgress(Sample(), 30), " 50% 0:12.3 / 0:24.6  4.1x");
  EXPECT_EQ(RenderProgress(Sample(), 22), " 50% 0:12.3 / 0:24.6");
  EXPECT_EQ(RenderProgress(Sample(), 10), " 50% 4.1x");
  EXPECT_EQ(RenderProgress(Sample(), 5), " 50%");
  EXPECT_EQ(RenderProgress(Sample(), 0), "");
}

TEST(ProgressBarTest, NeverExceedsTheWidth) {
  Progress progress = Sample();
  progress.hypothesis = "ünd so weiter, immer weiter";
  for (size_t columns = 0; columns < 120; ++columns) {
    EXPECT_LE(ColumnsOf(RenderProgress(progress, columns)), columns);
  }
}

TEST(ProgressBarTest, WideCharactersDoNotWrap) {
  Progress progress = Sample();
  for (int i = 0; i < 60; ++i) progress.hypothesis += "界";
  const std::string line = RenderProgress(progress, 79);
  const auto wide = static_cast<size_t>(std::count(line.begin(), line.end(), '\xE7'));
  EXPECT_LE(line.size() - 3 * wide + 2 * wide, 79u) << line;
  EXPECT_GT(wide, 5u);
}

TEST(ProgressBarTest, EndsWithTheLastOfTheHypothesis) {
  Progress progress = Sample();
  progress.hypothesis = "and then\nhe said to her";
  EXPECT_THAT(RenderProgress(progress, 100), testing::EndsWith("4.1x  and then he said to her"));
  EXPECT_THAT(RenderProgress(progress, 75), testing::EndsWith("4.1x  he said to her"));
}

TEST(ProgressLineTest, RedrawsInPlaceAndClears) {
  StringOutput terminal;
  ProgressLine line(&terminal);
  line.Draw(Sample());
  EXPECT_EQ(terminal.text.front(), '\r');
  EXPECT_THAT(terminal.text, testing::EndsWith("4.1x\x1b[K"));
  EXPECT_THAT(terminal.text, Not(HasSubstr("\n")));
  terminal.text.clear();
  line.Clear();
  EXPECT_EQ(terminal.text, "\r\x1b[K");
  line.Clear();
  EXPECT_EQ(terminal.text, "\r\x1b[K");
}

TEST(ProgressLineTest, ClearsWhenItGoes) {
  StringOutput terminal;
  { ProgressLine(&terminal).Draw(Sample()); }
  EXPECT_THAT(terminal.text, testing::EndsWith("\r\x1b[K"));
}

TEST(ProgressLineTest, DoesNothingWithoutATerminal) {
  ProgressLine line(nullptr);
  EXPECT_FALSE(line.visible());
  line.Draw(Sample());
  line.Clear();
}

}  // namespace
}  // namespace superfluid::ctl
