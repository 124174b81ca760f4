#include <cmath>
#include <string>
#include <variant>

#include "gtest/gtest.h"
#include "tools/superfluidd/api/realtime_protocol.h"
#include "tools/superfluidd/api/voice_detector.h"

namespace superfluid::daemon {
namespace {

UpdateSession UpdateOf(const std::string& text) {
  auto parsed = ParseClientEvent(text, {});
  if (auto* event = std::get_if<ClientEvent>(&parsed)) {
    if (auto* update = std::get_if<UpdateSession>(&event->what)) return *update;
  }
  ADD_FAILURE() << text;
  return {};
}

std::string ParamOf(const std::string& text) {
  auto parsed = ParseClientEvent(text, {});
  const auto* error = std::get_if<ApiError>(&parsed);
  return error == nullptr ? "none" : error->param;
}

TEST(RealtimeProtocolTest, ReadsTheNewerForm) {
  const auto update = UpdateOf(R"({"type":"session.update","session":{"type":"transcription",
      "audio":{"input":{"format":{"type":"audio/pcm","rate":16000},"transcription":{"model":"m",
      "language":"de","prompt":"p"},"turn_detection":null}},
      "include":["item.input_audio_transcription.logprobs"]}})");
  EXPECT_EQ(update.dialect, Dialect::kOpenAi);
  EXPECT_EQ(update.settings.rate_hz, 16000u);
  EXPECT_EQ(update.settings.model, "m");
  EXPECT_EQ(update.settings.language, "de");
  EXPECT_FALSE(update.settings.turn_detection.has_value());
  EXPECT_TRUE(update.settings.logprobs);
}

TEST(RealtimeProtocolTest, ReadsTheOlderForm) {
  const auto update = UpdateOf(R"({"type":"transcription_session.update","session":{
      "input_audio_format":"g711_ulaw","input_audio_transcription":{"model":"m"},
      "turn_detection":{"type":"server_vad","threshold":0.7,"silence_duration_ms":200}}})");
  EXPECT_EQ(update.dialect, Dialect::kOpenAiOlder);
  EXPECT_EQ(update.settings.coding, AudioCoding::kMuLaw);
  EXPECT_EQ(update.settings.rate_hz, 8000u);
  ASSERT_TRUE(update.settings.turn_detection.has_value());
  EXPECT_EQ(update.settings.turn_detection->silence_ms, 200);
  EXPECT_EQ(update.settings.turn_detection->prefix_ms, 300);
}

TEST(RealtimeProtocolTest, TellsVllmByItsFlatModel) {
  const auto update = UpdateOf(R"({"type":"session.update","model":"m"})");
  EXPECT_EQ(update.dialect, Dialect::kVllm);
  EXPECT_EQ(update.settings.rate_hz, 16000u);
  EXPECT_FALSE(update.settings.turn_detection.has_value());
}

TEST(RealtimeProtocolTest, ReadsAudioAndCommits) {
  auto parsed =
      ParseClientEvent(R"({"type":"input_audio_buffer.append","event_id":"e","audio":"aGk="})", {});
  const auto& event = std::get<ClientEvent>(parsed);
  EXPECT_EQ(event.event_id, "e");
  EXPECT_EQ(std::get<AppendAudio>(event.what).bytes, "hi");
  parsed = ParseClientEvent(R"({"type":"input_audio_buffer.commit","final":true})", {});
  EXPECT_EQ(std::get<CommitAudio>(std::get<ClientEvent>(parsed).what).final, true);
}

TEST(RealtimeProtocolTest, RefusesByName) {
  EXPECT_EQ(ParamOf("[]"), "");
  EXPECT_EQ(ParamOf("no json"), "");
  EXPECT_EQ(ParamOf(R"({"type":"response.create"})"), "type");
  EXPECT_EQ(ParamOf(R"({"type":"input_audio_buffer.append","audio":"%"})"), "audio");
  EXPECT_EQ(ParamOf(R"({"type":"session.update","session":{"audio":{"input":{"format":
      {"type":"audio/mp3"}}}}})"),
            "session.audio.input.format");
  EXPECT_EQ(ParamOf(R"({"type":"session.update","session":{"audio":{"input":{"turn_detection":
      {"type":"semantic_vad"}}}}})"),
            "session.turn_detection.type");
  EXPECT_NE(ParamOf(std::string(100000, '[')), "none") << "depth is bounded";
}

std::string Tone(const VoiceDetector& detector, double amplitude) {
  std::string frame;
  for (size_t i = 0; i < detector.frame_bytes() / 2; ++i) {
    const auto value =
        static_cast<int16_t>(amplitude * 32767 * std::sin(static_cast<double>(i) / 3));
    frame.push_back(static_cast<char>(value & 0xFF));
    frame.push_back(static_cast<char>((value >> 8) & 0xFF));
  }
  return frame;
}

TEST(VoiceDetectorTest, FindsWhereSpeechBeginsAndEnds) {
  VoiceDetector detector({.rate_hz = 16000, .threshold = 0.5, .silence_ms = 200});
  const std::string quiet = Tone(detector, 0.001);
  const std::string loud = Tone(detector, 0.3);
  using Change = VoiceDetector::Change;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(detector.Feed(quiet), Change::kNone);
  EXPECT_EQ(detector.Feed(loud), Change::kNone);
  EXPECT_EQ(detector.Feed(loud), Change::kNone);
  EXPECT_EQ(detector.Feed(loud), Change::kStarted);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(detector.Feed(quiet), Change::kNone);
  EXPECT_EQ(detector.Feed(loud), Change::kNone) << "a pause is no end";
  for (int i = 0; i < 9; ++i) EXPECT_EQ(detector.Feed(quiet), Change::kNone);
  EXPECT_EQ(detector.Feed(quiet), Change::kStopped);
  EXPECT_FALSE(detector.speaking());
}

TEST(VoiceDetectorTest, AClickIsNoSpeech) {
  VoiceDetector detector({.rate_hz = 16000});
  const std::string quiet = Tone(detector, 0.001);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(detector.Feed(Tone(detector, 0.5)), VoiceDetector::Change::kNone);
    for (int k = 0; k < 5; ++k) EXPECT_EQ(detector.Feed(quiet), VoiceDetector::Change::kNone);
  }
}

int SampleOf(const std::string& samples, size_t index) {
  return static_cast<int16_t>(static_cast<uint8_t>(samples[2 * index]) |
                              (static_cast<uint8_t>(samples[2 * index + 1]) << 8));
}

// Values of the tables in ITU-T G.711, in the usual 16-bit form.
TEST(G711Test, DecodesAsTheTablesSay) {
  const std::string mu = DecodeMuLaw(std::string("\x00\x80\xFF\x7F\x8F", 5));
  EXPECT_EQ(SampleOf(mu, 0), -32124);
  EXPECT_EQ(SampleOf(mu, 1), 32124);
  EXPECT_EQ(SampleOf(mu, 2), 0);
  EXPECT_EQ(SampleOf(mu, 3), 0);
  EXPECT_EQ(SampleOf(mu, 4), 16764);
  const std::string a = DecodeALaw(std::string("\x2A\xAA\xD5\x55", 4));
  EXPECT_EQ(SampleOf(a, 0), -32256);
  EXPECT_EQ(SampleOf(a, 1), 32256);
  EXPECT_EQ(SampleOf(a, 2), 8);
  EXPECT_EQ(SampleOf(a, 3), -8);
}

}  // namespace
}  // namespace superfluid::daemon
