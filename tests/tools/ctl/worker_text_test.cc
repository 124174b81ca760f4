#include "tools/ctl/formats/worker_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace superfluid::ctl {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

linkw::HelloAck SampleHello() {
  linkw::HelloAck hello;
  hello.engine_bundle_hash[0] = 0xAB;
  hello.engine_bundle_hash[31] = 0x01;
  hello.capabilities_json = R"({"name":"pocketsphinx","version":"5","model":"en-us"})";
  hello.limits = {.max_frame = 64u << 20,
                  .op_window = 16,
                  .ring_specs = {{linkw::kTokenInRing, linkw::RingKind::kTokens, 16400, 64}},
                  .max_lanes = 0,
                  .max_transcriptions = 4};
  return hello;
}

linkw::Pong SamplePong() {
  linkw::Pong pong;
  pong.queue_depth = 2;
  pong.open_ops = 1;
  pong.open_transcriptions = 3;
  pong.mem.allocated_bytes = 85u << 20;
  pong.engine_busy_us = 1'230'000;
  pong.engine_state = linkw::EngineState::kBusy;
  pong.engine_steps = 77;
  pong.step_age_us = 1200;
  return pong;
}

TEST(HashTextTest, HasTwoDigitsAByte) {
  const std::string text = HashText(SampleHello().engine_bundle_hash);
  EXPECT_EQ(text.size(), 64u);
  EXPECT_EQ(text.substr(0, 4), "ab00");
  EXPECT_EQ(text.substr(62), "01");
}

TEST(InfoTextTest, SaysWhoTheWorkerIs) {
  const std::string text = InfoText(SampleHello());
  EXPECT_THAT(text, HasSubstr("engine          pocketsphinx 5, model en-us\n"));
  EXPECT_THAT(text, HasSubstr("protocol        Link W version 8\n"));
  EXPECT_THAT(text, HasSubstr("transcriptions  up to 4 open on a link\n"));
  EXPECT_THAT(text, HasSubstr("largest frame   64.0 MiB\n"));
  EXPECT_THAT(text, HasSubstr("rings           1: 64 slots of 16400 bytes\n"));
  EXPECT_THAT(text, HasSubstr("state spaces    none\n"));
}

TEST(InfoTextTest, FindsWhereEnginesSayIt) {
  linkw::HelloAck hello = SampleHello();
  hello.capabilities_json = R"({"transcribe":{"max_transcriptions":3}})";
  EXPECT_THAT(InfoText(hello), HasSubstr("the engine works on 3 at a time\n"));
}

TEST(InfoTextTest, ListsLanguagesOnce) {
  linkw::HelloAck hello = SampleHello();
  hello.capabilities_json =
      R"({"transcribe":{"languages":["de","yue"],"translate_from":["de","yue"]}})";
  const std::string text = InfoText(hello);
  EXPECT_EQ(text.find("yue"), text.rfind("yue")) << text;
  EXPECT_THAT(text, HasSubstr("\"translate_from\": \"all of them\""));
  EXPECT_EQ(InfoJson(hello)["capabilities"]["transcribe"]["translate_from"].size(), 2u);
}

TEST(InfoTextTest, TellsWhatIsOpenFromWhatIsWorkedOn) {
  linkw::HelloAck hello = SampleHello();
  hello.limits.max_transcriptions = 256;
  hello.capabilities_json = R"({"max_transcriptions":4})";
  EXPECT_THAT(InfoText(hello), HasSubstr("transcriptions  up to 256 open on a link, of which the "
                                         "engine works on 4 at a time\n"));
}

TEST(InfoTextTest, SurvivesCapabilitiesOfAnyKind) {
  linkw::HelloAck hello = SampleHello();
  for (const char* capabilities : {"", "[1]", "7", "{\"name\":7}", "{oops"}) {
    hello.capabilities_json = capabilities;
    EXPECT_THAT(InfoText(hello), HasSubstr("(does not say its name)"));
  }
}

TEST(InfoJsonTest, HasEverything) {
  const Json json = InfoJson(SampleHello());
  EXPECT_EQ(json["protocol_version"], 8);
  EXPECT_EQ(json["capabilities"]["name"], "pocketsphinx");
  EXPECT_EQ(json["limits"]["max_transcriptions"], 4);
  EXPECT_EQ(json["limits"]["ring_specs"][0]["kind"], "tokens");
  EXPECT_EQ(json["state_spaces"].size(), 0u);
}

TEST(PongTextTest, IsOneLine) {
  EXPECT_EQ(PongText(SamplePong(), absl::Microseconds(120)),
            "answer in 120 us: engine busy, 2 queued, 3 transcriptions, 1 op, 77 steps, current "
            "step 1.20 ms, busy for 1.23 s in total, memory 85.0 MiB\n");
}

TEST(PongJsonTest, HasEverything) {
  const Json json = PongJson(SamplePong(), absl::Microseconds(120));
  EXPECT_EQ(json["round_trip_ms"], 0.12);
  EXPECT_EQ(json["engine_state"], "busy");
  EXPECT_EQ(json["open_transcriptions"], 3);
  EXPECT_EQ(json["step_age_us"], 1200);
  EXPECT_EQ(json["mem"]["allocated_bytes"], 85u << 20);
}

TEST(PongTextTest, EndsWithHowLongItRunsAndWhoDrives) {
  linkw::Pong pong = SamplePong();
  pong.uptime_ms = 7'500'000;
  pong.driver_pid = 1234;
  pong.driver_ms = 45'678;
  pong.observers = 1;
  EXPECT_THAT(PongText(pong, absl::Microseconds(120)),
              EndsWith("memory 85.0 MiB, up 2 h 5 min, driver 1234 for 45 s, 1 observer\n"));
  pong.driver_pid = 0;  // in another namespace, say
  pong.observers = 0;
  EXPECT_THAT(PongText(pong, absl::Microseconds(120)),
              EndsWith("memory 85.0 MiB, up 2 h 5 min, driver for 45 s\n"));
}

TEST(PongTextTest, SaysHowMuchIsLoaded) {
  linkw::Pong pong;
  pong.engine_state = linkw::EngineState::kLoading;
  EXPECT_THAT(PongText(pong, absl::Microseconds(120)), HasSubstr(": engine loading, "));
  pong.load_permille = 429;
  EXPECT_THAT(PongText(pong, absl::Microseconds(120)), HasSubstr(": engine loading 42 %, "));
  EXPECT_EQ(PongJson(pong, absl::Microseconds(120))["load_permille"], 429);
  pong.engine_state = linkw::EngineState::kIdle;
  EXPECT_THAT(PongText(pong, absl::Microseconds(120)), HasSubstr(": engine idle, "));
  EXPECT_FALSE(PongJson(pong, absl::Microseconds(120)).contains("load_permille"));
}

TEST(PongJsonTest, LeavesOutWhatTheWorkerDoesNotSay) {
  linkw::Pong pong = SamplePong();
  for (const char* key : {"load_permille", "uptime_ms", "driver_pid", "driver_ms", "observers"}) {
    EXPECT_FALSE(PongJson(pong, absl::Microseconds(120)).contains(key)) << key;
  }
  pong.uptime_ms = 1;
  pong.driver_pid = 2;
  pong.driver_ms = 3;
  pong.observers = 4;
  const Json json = PongJson(pong, absl::Microseconds(120));
  EXPECT_EQ(json["uptime_ms"], 1);
  EXPECT_EQ(json["driver_pid"], 2);
  EXPECT_EQ(json["driver_ms"], 3);
  EXPECT_EQ(json["observers"], 4);
}

TEST(EngineStateNameTest, NamesEveryStateAndNoOther) {
  using linkw::EngineState;
  EXPECT_EQ(EngineStateName(EngineState::kIdle), "idle");
  EXPECT_EQ(EngineStateName(EngineState::kStalled), "stalled");
  EXPECT_EQ(EngineStateName(EngineState::kFailed), "failed");
  EXPECT_EQ(EngineStateName(EngineState::kDraining), "draining");
  EXPECT_EQ(EngineStateName(EngineState::kLoading), "loading");
  EXPECT_EQ(EngineStateName(static_cast<EngineState>(99)), "unknown");
}

}  // namespace
}  // namespace superfluid::ctl
