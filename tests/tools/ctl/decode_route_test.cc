// What transcribe does with a recording that the worker does not read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <variant>

#include "tests/tools/ctl/child_process.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"
#include "tests/tools/decode/media.h"

namespace superfluid::ctl {
namespace {

using decode::MakeMedia;
using decode::Tone;
using linkw::DriverMessage;
using testing::HasSubstr;

constexpr size_t kSecond = 16000 * sizeof(float);

// Counts the samples of a live transcription, and answers when they have ended.
class ListeningWorker {
 public:
  ListeningWorker()
      : worker([this](FakeLink& link, uint64_t seq, const DriverMessage& message) {
          if (AsTranscribe(message) != nullptr) request_seq_ = seq;
          const auto* audio = std::get_if<linkw::TranscribeAudio>(&message);
          if (audio == nullptr) return;
          if (const auto* bytes = std::get_if<std::string>(&audio->data)) heard += bytes->size();
          if (audio->end_of_stream) link.Send(Answer(MakeOutcome()), request_seq_);
        }) {}

  size_t heard = 0;  // bytes

 private:
  uint64_t request_seq_ = 0;

 public:
  FakeWorker worker;  // last: its threads use the rest
};

class DecodeRouteTest : public testing::Test {
 protected:
  std::vector<std::string> Line(const std::vector<std::string>& arguments) const {
    std::vector<std::string> line = {"--connect", worker_.worker.path(), "transcribe"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return line;
  }
  linkw::PcmFormat LiveFormat() {
    return std::get<linkw::AudioLive>(worker_.worker.WaitForTranscribe().audio).format;
  }

  ListeningWorker worker_;
};

TEST_F(DecodeRouteTest, SendsAnM4aAsItIsDecoded) {
  ChildProcess ctl(Line({MakeMedia("talk.m4a", Tone(2))}));
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_EQ(LiveFormat(), (linkw::PcmFormat{16000, 1, linkw::SampleFormat::kF32}));
  EXPECT_NEAR(static_cast<double>(worker_.heard), 2 * kSecond, kSecond / 16);
}

TEST_F(DecodeRouteTest, SendsOneOnStandardInput) {
  const std::string bytes = decode::ReadFile(MakeMedia("piped.m4a", Tone(1)));
  ChildProcess ctl(Line({"-"}));
  ctl.WriteInput(bytes);
  ctl.CloseInput();
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_NEAR(static_cast<double>(worker_.heard), kSecond, kSecond / 16);
}

TEST_F(DecodeRouteTest, DecodesWhatTheWorkerReadsWhenTold) {
  ChildProcess ctl(Line({MakeMedia("told.flac", Tone(1)), "--decode"}));
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_EQ(worker_.heard, kSecond);
}

TEST_F(DecodeRouteTest, SendsItWholeInline) {
  size_t length = 0;
  FakeWorker worker([&length](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    const linkw::Transcribe* request = AsTranscribe(message);
    if (request == nullptr) return;
    const auto* buffer = std::get_if<linkw::AudioBuffer>(&request->audio);
    if (buffer != nullptr && std::holds_alternative<linkw::PcmFormat>(buffer->format)) {
      length = buffer->length;
    }
    TranscribeAll(link, seq, message);
  });
  ChildProcess ctl(
      {"--connect", worker.path(), "transcribe", "--inline", MakeMedia("whole.webm", Tone(1))});
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_NEAR(static_cast<double>(length), kSecond, kSecond / 16);
}

TEST_F(DecodeRouteTest, SaysWhyARecordingIsRefused) {
  const std::string path = MakeMedia(
      "film.mp4", {"-f", "lavfi", "-i", "testsrc=size=64x64:duration=1", "-c:v", "mpeg4"});
  ChildProcess ctl(Line({path}));
  EXPECT_EQ(ctl.Wait(), 1);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("cannot decode " + path + ": it has no sound"));
}

TEST_F(DecodeRouteTest, SaysThatItIsDamagedAfterWhatIsThere) {
  std::vector<std::string> arguments = Tone(10);
  for (const char* argument : {"-movflags", "+faststart"}) arguments.emplace_back(argument);
  std::string bytes = decode::ReadFile(MakeMedia("cut.m4a", arguments));
  bytes.resize(bytes.size() / 2);
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess ctl({"--connect", worker.path(), "transcribe", decode::WriteFile("cut.m4a", bytes)});
  EXPECT_EQ(ctl.Wait(), 1);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("it ends after "));
  EXPECT_THAT(ctl.ReadRestOfOutput(), HasSubstr("one two"));
}

TEST_F(DecodeRouteTest, CancelsWhileItIsDecoded) {
  FakeWorker worker(TranscribeUntilCancelled);  // takes no audio: the pipe is full
  ChildProcess ctl(
      {"--connect", worker.path(), "transcribe", MakeMedia("long.m4a", Tone(120, 16000))});
  ctl.ReadUntil("one two");
  ctl.Signal(SIGINT);
  EXPECT_EQ(ctl.Wait(), 130);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("cancelled"));
}

TEST_F(DecodeRouteTest, NeedsTheDecoder) {
  ChildProcess::Options options;
  options.prepare = [] { return setenv("SUPERFLUID_DECODER", "/nonexistent", 1) == 0; };
  ChildProcess ctl(Line({MakeMedia("alone.m4a", Tone(1))}), options);
  EXPECT_EQ(ctl.Wait(), 1);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("there is no superfluid_decode"));
}

}  // namespace
}  // namespace superfluid::ctl
