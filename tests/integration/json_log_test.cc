// --log-format json of a worker as a process: what it logs, a crash and a start that fails leave
// lines that a reader of JSON takes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> InJson(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--log-format", "json", "--log-name", "gpu-0"});
  return arguments;
}

// The lines of a log, each of which is an object that says when, how bad, what and who.
std::vector<Json> LinesOf(const std::string& log) {
  std::vector<Json> lines;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(json.is_object()) << line;
    if (!json.is_object()) continue;
    for (const char* key : {"time", "level", "event", "worker"}) {
      EXPECT_TRUE(json.contains(key) && json[key].is_string()) << line;
    }
    EXPECT_EQ(json.value("worker", ""), "gpu-0") << line;
    lines.push_back(std::move(json));
  }
  return lines;
}

std::vector<Json> Events(const std::vector<Json>& lines, const std::string& event) {
  std::vector<Json> found;
  for (const Json& line : lines) {
    if (line.value("event", "") == event) found.push_back(line);
  }
  return found;
}

linkw::Transcribe Labelled(const std::string& label) {
  linkw::Transcribe request;
  request.audio = linkw::AudioLive{
      {.sample_rate_hz = 16000, .channels = 1, .sample_format = linkw::SampleFormat::kS16}};
  request.label = label;
  return request;
}

// A second of something that is not silence.
void Speak(linkw::TranscriptionStream& stream) {
  std::string pcm(32000, '\0');
  for (size_t i = 0; i < pcm.size(); ++i) pcm[i] = static_cast<char>(i * 31 % 97);
  EXPECT_TRUE(stream.PushAudio(pcm, true).ok());
}

TEST(JsonLogTest, HoldsWhatPeersSayAsItWas) {
  WorkerProcess worker(InJson({"--engine", "sim", "--log-level", "trace"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  const std::string label = "a \"quoted\" \\ line\nand \x1b[31m \xE2\x82\xAC=1 b=\"";
  auto stream = client->Transcribe(Labelled(label));
  ASSERT_TRUE(stream.ok()) << stream.status();
  Speak(**stream);
  (void)(*stream)->Finish(absl::Now() + absl::Seconds(60));
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
  const std::vector<Json> lines = LinesOf(worker.Log());
  const std::vector<Json> done = Events(lines, "transcription.done");
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0]["label"], label);
  EXPECT_EQ(done[0]["audio_ms"], 1000);
  EXPECT_EQ(done[0]["status"], "OK");
  EXPECT_THAT(Events(lines, "worker.exit"), SizeIs(1));
  EXPECT_EQ(lines.back()["event"], "worker.exit");
}

TEST(JsonLogTest, ACrashLeavesItsReport) {
  WorkerProcess worker(InJson({"--engine", "sim", "--engine-option", "crash_at_step=2"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = client->Transcribe(Labelled("x"));
  ASSERT_TRUE(stream.ok()) << stream.status();
  Speak(**stream);
  EXPECT_EQ(worker.Wait(), 128 + SIGSEGV);
  const std::vector<Json> lines = LinesOf(worker.Log());
  const std::vector<Json> crash = Events(lines, "crash.signal");
  ASSERT_THAT(crash, SizeIs(1));
  EXPECT_EQ(crash[0]["signal"], "SIGSEGV");
  EXPECT_EQ(crash[0]["thread"], "engine");
  EXPECT_EQ(crash[0]["link"], 1);
  const std::vector<Json> frames = Events(lines, "crash.frame");
  ASSERT_GT(frames.size(), 3u);
  for (size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i]["n"], i);
}

TEST(JsonLogTest, AStuckEngineLeavesItsReport) {
  WorkerProcess worker(
      InJson({"--engine", "sim", "--engine-option", "stuck_at_step=2", "--engine-option",
              "stuck_ms=3600000", "--engine-stall-ms", "200", "--engine-kill-ms", "700"}));
  auto client = worker.Connect();
  ASSERT_NE(client, nullptr);
  auto stream = client->Transcribe(Labelled("x"));
  ASSERT_TRUE(stream.ok()) << stream.status();
  Speak(**stream);
  EXPECT_EQ(worker.Wait(), 128 + SIGABRT);
  const std::vector<Json> lines = LinesOf(worker.Log());
  ASSERT_THAT(Events(lines, "engine.stuck"), SizeIs(1));
  EXPECT_THAT(Events(lines, "engine.stuck")[0]["reason"], HasSubstr("--engine-kill-ms"));
  EXPECT_THAT(Events(lines, "crash.signal"), SizeIs(1));
}

TEST(JsonLogTest, WhatALibraryPrintsAndAModelThatDoesNotLoad) {
  WorkerProcess worker(InJson({"--engine", "tests/integration/libsuperfluid_prints.so"}));
  EXPECT_EQ(worker.Wait(), 3);
  const std::vector<Json> lines = LinesOf(worker.Log());
  ASSERT_THAT(Events(lines, "library.says"), SizeIs(2));
  EXPECT_EQ(Events(lines, "library.says")[0]["text"], "a library's \"complaint\"");
  ASSERT_THAT(Events(lines, "engine.not_loaded"), SizeIs(1));
  EXPECT_THAT(Events(lines, "engine.not_loaded")[0]["error"], HasSubstr("only prints"));
}

// Also where no level lets a line through.
TEST(JsonLogTest, AStartThatFailsSaysWhy) {
  for (const char* level : {"info", "off"}) {
    WorkerProcess worker(
        InJson({"--engine", "sim", "--log-level", level, "--media-root", "/nowhere/\"at\" all"}));
    EXPECT_EQ(worker.Wait(), 1);
    const std::vector<Json> lines = LinesOf(worker.Log());
    ASSERT_THAT(lines, SizeIs(1)) << level;
    EXPECT_EQ(lines[0]["event"], "worker.cannot_start");
    EXPECT_EQ(lines[0]["level"], "error");
    EXPECT_THAT(lines[0]["error"], HasSubstr("/nowhere/\"at\" all"));
  }
}

}  // namespace
}  // namespace superfluid
