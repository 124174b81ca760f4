#include "tools/ctl/commands/top_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/ctl/observe_samples.h"
#include "tools/ctl/formats/metrics_text.h"
#include "tools/ctl/terminal/live_screen.h"

namespace superfluid::ctl {
namespace {

using testing::HasSubstr;

TEST(TopTextTest, ShowsEverything) {
  const TopFigures figures =
      MakeTopFigures({absl::Seconds(12), SamplePong()}, PongSample{absl::Seconds(10), SamplePong()},
                     Counters(absl::Seconds(11), 300), Counters(absl::Seconds(10), 100));
  std::string view;
  for (const std::string& line : TopView("/tmp/w\x1b[31m", {}, figures)) {
    EXPECT_LT(line.size(), 80u) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    view += line + "\n";
  }
  for (const char* part :
       {"engine     busy      load 0%     step 1.50 ms   steps 100 (0.0/s)\n",
        "lanes      4         ticks 20.0/s\n", "tokens     in 100.0/s   out 200.0/s\n",
        "state ops  3 open   8 done   200.0 KiB/s\n", "speech     4 open   9 done\n",
        "requests   5 open   2 queued   6 cancels\n", "pool 50 of 200 blocks (25%)"}) {
    EXPECT_THAT(view, HasSubstr(part));
  }
  EXPECT_THAT(TopLine(figures), HasSubstr("lanes 4, tokens in 100.0/s out 200.0/s, "));
  EXPECT_EQ(TopJson(figures)["tokens_out_per_second"], 200);
}

TEST(TopTextTest, LeavesOutWhatTheEngineLacks) {
  linkw::HelloAck hello;
  hello.capabilities_json = R"({"name":"mine","model":"small","calls":["transcribe"]})";
  EXPECT_EQ(TopTitle("/w", hello), "/w  mine  small");
  linkw::Pong pong = SamplePong();
  pong.mem = {.allocated_bytes = 1024};
  const std::vector<std::string> view =
      TopView("w", RowsOf(hello), MakeTopFigures({absl::Seconds(1), pong}, {}, {}, {}));
  EXPECT_THAT(view, testing::ElementsAre(
                        "superfluidctl top - w", "",
                        "engine     busy      load -      step 1.50 ms   steps 100 (-)",
                        "speech     4 open   - done", "requests   - open   2 queued   - cancels",
                        "memory     1.0 KiB allocated", "", "q or Ctrl-C ends"));
  hello.capabilities_json = "rubbish";
  EXPECT_TRUE(RowsOf(hello).ticks);
  EXPECT_EQ(TopTitle("/w", hello), "/w");
}

TEST(TopTextTest, AStalledEngineStandsOut) {
  linkw::Pong pong = SamplePong();
  pong.engine_state = linkw::EngineState::kStalled;
  pong.step_age_us = 4'010'000;
  const std::vector<std::string> view =
      TopView("w", {}, MakeTopFigures({absl::Seconds(1), pong}, {}, {}, {}));
  EXPECT_THAT(view[2], testing::StartsWith("engine     STALLED   load"));
  EXPECT_EQ(view[3], "           no sign of life for 4.01 s");
}

// As a terminal of 40 columns shows it.
std::string Narrow(const std::string& title, const TopRows& rows, const TopFigures& figures) {
  std::string text;
  for (const std::string& line : FitLines(TopView(title, rows, figures), 30, 40)) {
    EXPECT_LE(line.size(), 40u) << line;
    text += line + "\n";
  }
  return text;
}

linkw::Pong PongOfABusyWorker() {
  linkw::Pong pong = SamplePong();
  pong.uptime_ms = 1'064'000'000;
  pong.driver_pid = 4'194'303;
  pong.driver_ms = 200'000;
  pong.observers = 12;
  return pong;
}

TEST(TopNarrowTest, SaysHowLongTheWorkerRunsAndWhoDrives) {
  const TopFigures figures = MakeTopFigures(
      {absl::Seconds(12), PongOfABusyWorker()}, PongSample{absl::Seconds(10), PongOfABusyWorker()},
      Counters(absl::Seconds(11), 300), Counters(absl::Seconds(10), 100));
  EXPECT_EQ(Narrow("/run/superfluid/gpu-0.sock  whisper", {}, figures),
            "superfluidctl top - /run/superfluid/gpu-\n"
            "\n"
            "engine     busy      load 0%\n"
            "           step 1.50 ms\n"
            "           steps 100 (0.0/s)\n"
            "worker     up 12 d 7 h\n"
            "           driver 4194303 for 3 min 20 s\n"
            "           12 observers\n"
            "lanes      4         ticks 20.0/s\n"
            "tokens     in 100.0/s   out 200.0/s\n"
            "state ops  3 open   8 done   200.0 KiB/s\n"
            "speech     4 open   9 done\n"
            "requests   5 open   2 queued   6 cancels\n"
            "memory     3.0 MiB allocated\n"
            "           pool 50 of 200 blocks (25%)\n"
            "           evictable 1.0 KiB\n"
            "           2.0 KiB retained in the host\n"
            "           7 B tentative\n"
            "\n"
            "q or Ctrl-C ends\n");
}

TEST(TopNarrowTest, AWorkerThatLoads) {
  linkw::Pong pong;
  pong.engine_state = linkw::EngineState::kLoading;
  pong.load_permille = 423;
  pong.uptime_ms = 9'000;
  const TopRows rows = {.ticks = false, .state_ops = false, .speech = true};
  EXPECT_EQ(Narrow("w", rows, MakeTopFigures({absl::Seconds(1), pong}, {}, {}, {})),
            "superfluidctl top - w\n"
            "\n"
            "engine     loading 42 %  load -\n"
            "           step none      steps 0 (-)\n"
            "worker     up 9 s\n"
            "speech     0 open   - done\n"
            "requests   - open   0 queued   - cancels\n"
            "memory     0 B allocated\n"
            "\n"
            "q or Ctrl-C ends\n");
}

TEST(TopNarrowTest, AStalledEngineStaysInSight) {
  linkw::Pong pong = PongOfABusyWorker();
  pong.engine_state = linkw::EngineState::kStalled;
  pong.step_age_us = 4'010'000;
  const std::string view = Narrow("w", {}, MakeTopFigures({absl::Seconds(1), pong}, {}, {}, {}));
  EXPECT_THAT(view, HasSubstr("\nengine     STALLED   load -\n"));
  EXPECT_THAT(view, HasSubstr("\n           no sign of life for 4.01 s\nworker     up"));
}

TEST(TopTextTest, LinesAndJsonSayWhoDrives) {
  const TopFigures figures = MakeTopFigures({absl::Seconds(1), PongOfABusyWorker()}, {}, {}, {});
  EXPECT_THAT(TopLine(figures),
              testing::EndsWith(", up 12 d 7 h, driver 4194303 for 3 min 20 s, 12 observers\n"));
  EXPECT_EQ(TopJson(figures)["uptime_ms"], 1'064'000'000);
  EXPECT_EQ(TopJson(figures)["driver_pid"], 4'194'303);
  EXPECT_EQ(TopJson(figures)["observers"], 12);
}

TEST(MetricsTextTest, HasTheFiguresThatTheWorkerSays) {
  linkw::Pong pong = PongOfABusyWorker();
  const std::string busy = MetricsText({}, pong, {});
  for (const char* part :
       {"# TYPE superfluid_uptime_seconds gauge\nsuperfluid_uptime_seconds 1064000.000\n",
        "superfluid_driver_seconds 200.000\n", "superfluid_driver_pid 4194303\n",
        "superfluid_observers 12\n"}) {
    EXPECT_THAT(busy, HasSubstr(part));
  }
  EXPECT_THAT(busy, testing::Not(HasSubstr("load_ratio")));
  pong = {};
  pong.engine_state = linkw::EngineState::kLoading;
  pong.load_permille = 42;
  const std::string loading = MetricsText({}, pong, {});
  EXPECT_THAT(loading, HasSubstr("superfluid_engine_load_ratio 0.042\n"));
  EXPECT_THAT(loading, HasSubstr("superfluid_engine_state{state=\"loading\"} 1\n"));
  for (const char* name : {"uptime", "driver", "observers"}) {
    EXPECT_THAT(loading, testing::Not(HasSubstr(name)));
  }
}

TEST(FitLinesTest, BreaksBetweenCellsAndKeepsTheLastLine) {
  const std::vector<std::string> lines = {"a title that is cut", "",
                                          "engine     busy      load 99%    step 4 ms", "", "end"};
  EXPECT_EQ(FitLines(lines, 24, 80), lines);
  EXPECT_EQ(FitLines(lines, 6, 32),
            (std::vector<std::string>{"a title that is cut", "", "engine     busy      load 99%",
                                      "           step 4 ms", "", "end"}));
  EXPECT_EQ(FitLines(lines, 4, 32),
            (std::vector<std::string>{"a title that is cut", "engine     busy      load 99%",
                                      "           step 4 ms", "end"}));
  EXPECT_EQ(FitLines(lines, 9, 10)[0], "a title th");
  EXPECT_EQ(FitLines(lines, 2, 80), (std::vector<std::string>{"a title that is cut", lines[2]}));
}

}  // namespace
}  // namespace superfluid::ctl
