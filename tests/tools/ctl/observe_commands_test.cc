#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/observe_samples.h"
#include "tests/tools/ctl/temp_file.h"
#include "tools/ctl/commands/top_sample.h"
#include "tools/ctl/formats/worker_text.h"

// mem and top.
namespace superfluid::ctl {
namespace {

using testing::HasSubstr;

using ObserveTest = CommandTest;

// ---- mem

TEST_F(ObserveTest, MemPrintsTheCounters) {
  FakeWorker worker;
  worker.pong.mem = SampleMemory();
  EXPECT_EQ(RunWith(worker, {"mem"}), ExitCode::kOk) << err_.text;
  EXPECT_EQ(out_.text,
            "allocated       3.0 MiB\n"
            "host retained   2.0 KiB\n"
            "pool blocks     50 of 200 used (25%)\n"
            "evictable       1.0 KiB\n"
            "tentative       7 B\n");
  EXPECT_EQ(worker.WaitFor<linkw::Hello>().role, linkw::Role::kObserver);
  EXPECT_EQ(RunWith(worker, {"mem", "--json"}), ExitCode::kOk);
  EXPECT_EQ(LastLine(), Json::parse(R"({"allocated_bytes":3145728,"host_retained_bytes":2048,
      "pool_blocks_total":200,"pool_blocks_used":50,"pool_bytes_evictable":1024,
      "tentative_bytes":7})"));
}

TEST_F(ObserveTest, MemOfAnEngineWithoutAPoolHasNoPercentage) {
  EXPECT_THAT(MemoryText({}), HasSubstr("pool blocks     0 of 0 used\n"));
}

TEST_F(ObserveTest, ReportAWorkerThatIsNotThereOrLeaves) {
  for (const std::string command : {"mem", "metrics", "top"}) {
    EXPECT_EQ(Run({"--connect", "/nowhere/w", command}), ExitCode::kNoLink);
    FakeWorker worker;
    worker.hello = linkw::Error{.status = linkw::Status::kDraining, .message = "x", .fatal = true};
    EXPECT_EQ(RunWith(worker, {command}), ExitCode::kFailed);
  }
}

// ---- metrics

TEST_F(ObserveTest, MetricsPrintsWhatTelemetryAndPongSay) {
  FakeWorker worker;
  worker.pong = SamplePong();
  std::get<linkw::HelloAck>(worker.hello).capabilities_json = R"({"name":"a \"b\""})";
  worker.on_ping = [](FakeLink& link) {
    link.Send(linkw::Telemetry{{{"cancels", 6}, {"engine.steps", 1}, {"new.figure", 7}}}, 0);
  };
  EXPECT_EQ(RunWith(worker, {"metrics"}), ExitCode::kOk) << err_.text;
  for (const char* part :
       {"# HELP superfluid_cancels Cancels that daemons asked for.\n"
        "# TYPE superfluid_cancels counter\nsuperfluid_cancels_total 6\n",
        "superfluid_worker_info{engine=\"a \\\"b\\\"\",bundle_hash=\"",
        "superfluid_engine_state{state=\"busy\"} 1\n",
        "superfluid_engine_state{state=\"stalled\"} 0\n",
        "superfluid_engine_busy_seconds_total 1.000000\n",
        "superfluid_engine_step_age_seconds 0.001500\n", "superfluid_engine_steps_total 100\n",
        "# TYPE superfluid_queue_depth gauge\nsuperfluid_queue_depth 2\n",
        "superfluid_memory_allocated_bytes 3145728\n", "superfluid_new_figure 7\n"}) {
    EXPECT_THAT(out_.text, HasSubstr(part));
  }
  EXPECT_TRUE(out_.text.ends_with("\n# EOF\n"));
  EXPECT_EQ(worker.WaitFor<linkw::Hello>().role, linkw::Role::kObserver);
}

TEST_F(ObserveTest, MetricsWritesAFileAsAWhole) {
  FakeWorker worker;
  worker.on_ping = [](FakeLink& link) { link.Send(linkw::Telemetry{}, 0); };
  const std::string path = WriteTempFile("superfluid.prom", "old");
  EXPECT_EQ(RunWith(worker, {"metrics", "--output", path}), ExitCode::kOk) << err_.text;
  EXPECT_EQ(out_.text, "");
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_TRUE(text.ends_with("\n# EOF\n")) << text;
  EXPECT_EQ(RunWith(worker, {"metrics", "--output", "/nowhere/x"}), ExitCode::kFailed);
}

// ---- top

TEST_F(ObserveTest, TopPrintsALineAnInterval) {
  FakeWorker worker;
  worker.pong = SamplePong();
  EXPECT_EQ(RunWith(worker, {"top", "--count", "3", "--interval", "10"}), ExitCode::kOk)
      << err_.text;
  ASSERT_EQ(OutputLines().size(), 3u);
  EXPECT_EQ(OutputLines()[0],
            "busy, load 0%, step 1.50 ms, lanes -, tokens in - out -, 3 ops, 4 transcriptions, "
            "2 queued, memory 3.0 MiB");
  const auto hello = worker.WaitFor<linkw::Hello>();
  EXPECT_EQ(hello.role, linkw::Role::kObserver);
  EXPECT_THAT(hello.features, testing::ElementsAre("telemetry"));
}

TEST_F(ObserveTest, TopPrintsJson) {
  FakeWorker worker;
  worker.pong = SamplePong();
  EXPECT_EQ(RunWith(worker, {"top", "--count", "2", "--interval", "10", "--json"}), ExitCode::kOk);
  ASSERT_EQ(OutputLines().size(), 2u);
  EXPECT_EQ(LastLine()["engine_state"], "busy");
  EXPECT_EQ(LastLine()["load"], 0);
  EXPECT_TRUE(LastLine()["lanes"].is_null());
  EXPECT_EQ(LastLine()["mem"]["pool_blocks_used"], 50);
}

TEST_F(ObserveTest, TopEndsWithItsOutput) {
  FakeWorker worker;
  out_status_ = absl::AbortedError("gone");
  EXPECT_EQ(RunWith(worker, {"top", "--interval", "10"}), ExitCode::kOutputClosed);
  EXPECT_EQ(err_.text, "");
  out_status_ = absl::InternalError("disk full");
  EXPECT_EQ(RunWith(worker, {"top", "--interval", "10"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("disk full"));
}

TEST_F(ObserveTest, TopReportsUsageErrors) {
  EXPECT_EQ(Run({"--connect", "/x", "top", "--interval", "1"}), ExitCode::kUsage);
  EXPECT_EQ(Run({"--connect", "/x", "top", "--count", "x"}), ExitCode::kUsage);
}

// ---- What top makes of what it hears

TEST(TopFiguresTest, HasNoRatesAfterOneLook) {
  const TopFigures figures =
      MakeTopFigures({absl::Seconds(1), SamplePong()}, std::nullopt, std::nullopt, std::nullopt);
  EXPECT_EQ(figures.load, std::nullopt);
  EXPECT_EQ(figures.tokens_out_per_s, std::nullopt);
  EXPECT_EQ(figures.lanes, std::nullopt);
}

TEST(TopFiguresTest, ComputesRates) {
  linkw::Pong later = SamplePong();
  later.engine_busy_us += 500'000;
  later.engine_steps += 40;
  const TopFigures figures =
      MakeTopFigures({absl::Seconds(12), later}, PongSample{absl::Seconds(10), SamplePong()},
                     Counters(absl::Seconds(11), 300), Counters(absl::Seconds(10), 100));
  EXPECT_DOUBLE_EQ(*figures.load, 0.25);
  EXPECT_DOUBLE_EQ(*figures.steps_per_s, 20);
  EXPECT_DOUBLE_EQ(*figures.tokens_out_per_s, 200);
  EXPECT_DOUBLE_EQ(*figures.tokens_in_per_s, 100);
  EXPECT_DOUBLE_EQ(*figures.ticks_per_s, 20);
  EXPECT_EQ(figures.lanes, 4u);
  EXPECT_EQ(figures.cancels, 6u);
}

TEST(TopFiguresTest, CountsTheRunningStep) {
  linkw::Pong before;
  before.step_age_us = 1'000'000;
  linkw::Pong now;
  now.step_age_us = 2'000'000;
  EXPECT_DOUBLE_EQ(*MakeTopFigures({absl::Seconds(12), now}, PongSample{absl::Seconds(10), before},
                                   std::nullopt, std::nullopt)
                        .load,
                   0.5);
}

TEST(TopFiguresTest, AWorkerThatWasRestartedHasNoRate) {
  const PongSample before = {absl::Seconds(10), SamplePong()};
  linkw::Pong restarted = SamplePong();
  restarted.engine_busy_us = 0;
  const TopFigures figures =
      MakeTopFigures({absl::Seconds(12), restarted}, before, Counters(absl::Seconds(12), 5),
                     Counters(absl::Seconds(10), 100));
  EXPECT_EQ(figures.load, std::nullopt);
  EXPECT_EQ(figures.tokens_out_per_s, std::nullopt);
  EXPECT_EQ(MakeTopFigures(before, before, std::nullopt, std::nullopt).load, std::nullopt)
      << "no time has passed";
}

TEST(TelemetryStoreTest, KeepsTheNewestTwo) {
  TelemetryStore store;
  EXPECT_FALSE(store.Newest().first.has_value());
  for (uint64_t i = 1; i <= 3; ++i) {
    store.Add({{{"x", i}}}, absl::Seconds(static_cast<int64_t>(i)));
  }
  const auto [newest, before] = store.Newest();
  EXPECT_EQ(newest->counters.at("x"), 3u);
  EXPECT_EQ(before->counters.at("x"), 2u);
}

}  // namespace
}  // namespace superfluid::ctl
