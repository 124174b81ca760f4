// Files of every format, made here, through the real process: how long the sound is, and which.

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/decode/decode_fixture.h"

namespace superfluid::decode {
namespace {

using testing::HasSubstr;

struct Format {
  std::string file;
  std::vector<std::string> encoder;
  std::string codec;
  double frame_seconds = 0.0005;  // what the length may be wrong by: a frame of the codec
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.file; }

class FormatTest : public DecodeFixture, public testing::WithParamInterface<Format> {};

constexpr double kAacFrame = 1024.0 / 44100;
constexpr double kSeconds = 3.1;

TEST_P(FormatTest, IsHeardWhole) {
  const Format& format = GetParam();
  std::vector<std::string> arguments = Tone(kSeconds);
  arguments.insert(arguments.end(), format.encoder.begin(), format.encoder.end());
  const Decoded decoded = DecodeFile(MakeMedia(format.file, arguments));
  ASSERT_TRUE(decoded.summary.ok()) << decoded.summary.status();
  EXPECT_EQ(decoded.summary->codec, format.codec);
  EXPECT_EQ(decoded.summary->samples, decoded.samples.size());
  EXPECT_EQ(decoded.summary->note, "");
  EXPECT_NEAR(decoded.seconds(), kSeconds, format.frame_seconds);
  EXPECT_NEAR(FrequencyOf(decoded.samples), 440, 12);  // raw aac begins with its encoder's delay
}

INSTANTIATE_TEST_SUITE_P(
    All, FormatTest,
    testing::Values(Format{"a.m4a", {"-c:a", "aac"}, "aac", kAacFrame},
                    Format{"b.mp4", {"-c:a", "aac", "-movflags", "+faststart"}, "aac", kAacFrame},
                    Format{"fragmented.mp4",
                           {"-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"},
                           "aac",
                           2 * kAacFrame},
                    Format{"lossless.m4a", {"-c:a", "alac"}, "alac"},
                    Format{"raw.aac", {"-c:a", "aac"}, "aac", 2 * kAacFrame},
                    Format{"c.webm", {"-c:a", "libopus"}, "opus", 0.02},
                    Format{"d.mkv", {"-c:a", "libvorbis"}, "vorbis", 0.05},
                    Format{"e.wma", {"-c:a", "wmav2"}, "wmav2", 2 * 2048.0 / 44100},
                    Format{"f.3gp", {"-c:a", "aac", "-ar", "16000"}, "aac", 1024.0 / 16000},
                    Format{"g.mp3", {"-c:a", "libmp3lame"}, "mp3float", 1152.0 / 44100},
                    Format{"h.flac", {"-c:a", "flac"}, "flac"},
                    Format{"i.ogg", {"-c:a", "libvorbis"}, "vorbis", 0.05},
                    Format{"j.wav", {"-c:a", "pcm_s24le"}, "pcm_s24le"},
                    Format{"k.ac3", {"-c:a", "ac3"}, "ac3", 2 * 1536.0 / 44100},
                    Format{"l.ts", {"-c:a", "aac"}, "aac", 2 * kAacFrame},
                    Format{"m.avi", {"-c:a", "libmp3lame"}, "mp3float", 2 * 1152.0 / 44100},
                    Format{"n.flv", {"-c:a", "aac"}, "aac", 2 * kAacFrame},
                    Format{"o.mov", {"-c:a", "pcm_s16be"}, "pcm_s16be"}),
    [](const auto& test) {
      std::string name = test.param.file;
      name[name.find('.')] = '_';
      return name;
    });

class SoundTest : public DecodeFixture {};

TEST_F(SoundTest, OfAVideoIsDecoded) {
  std::vector<std::string> arguments = {"-f", "lavfi", "-i", "testsrc=size=64x64:duration=2"};
  for (const std::string& argument : Tone(2)) arguments.push_back(argument);
  for (const char* argument : {"-c:v", "mpeg4", "-c:a", "aac"}) arguments.emplace_back(argument);
  const Decoded decoded = DecodeFile(MakeMedia("video.mp4", arguments));
  ASSERT_TRUE(decoded.summary.ok()) << decoded.summary.status();
  EXPECT_NEAR(decoded.seconds(), 2, 2 * kAacFrame);
  EXPECT_NEAR(FrequencyOf(decoded.samples), 440, 12);
}

TEST_F(SoundTest, KeepsTheTimesOfAVideoWhoseSoundBeginsLater) {
  std::vector<std::string> arguments = {
      "-f", "lavfi", "-i", "testsrc=size=64x64:duration=3", "-itsoffset", "2"};
  for (const std::string& argument : Tone(1)) arguments.push_back(argument);
  for (const char* argument : {"-c:v", "mpeg4", "-c:a", "aac"}) arguments.emplace_back(argument);
  const Decoded decoded = DecodeFile(MakeMedia("late.mp4", arguments));
  ASSERT_TRUE(decoded.summary.ok()) << decoded.summary.status();
  ASSERT_NEAR(decoded.seconds(), 3, 2 * kAacFrame);
  const std::vector<float> before(decoded.samples.begin(), decoded.samples.begin() + 30000);
  EXPECT_THAT(before, testing::Each(0.0F));
  const std::vector<float> after(decoded.samples.begin() + 33000, decoded.samples.end());
  EXPECT_NEAR(FrequencyOf(after), 440, 12);
}

TEST_F(SoundTest, OfSeveralChannelsAndRatesIsMono) {
  std::vector<std::string> arguments = Tone(2, 96000);
  for (const char* argument : {"-ac", "6", "-c:a", "flac"}) arguments.emplace_back(argument);
  const Decoded decoded = DecodeFile(MakeMedia("surround.mka", arguments));
  ASSERT_TRUE(decoded.summary.ok()) << decoded.summary.status();
  EXPECT_EQ(decoded.summary->channels, 6u);
  EXPECT_EQ(decoded.summary->rate_hz, 96000u);
  EXPECT_EQ(decoded.samples.size(), 32000u);
}

TEST_F(SoundTest, InAmrIsDecoded) {
  const Decoded decoded = DecodeBytes(AmrBytes(150));
  ASSERT_TRUE(decoded.summary.ok()) << decoded.summary.status();
  EXPECT_EQ(decoded.summary->codec, "amrnb");
  EXPECT_EQ(decoded.samples.size(), 150u * 320);
}

TEST_F(SoundTest, InAmrHasItsPauses) {
  std::string bytes = AmrBytes(50);
  bytes.append(100, 0x7C);  // 20 ms of nothing each
  const Decoded decoded = DecodeBytes(bytes);
  ASSERT_TRUE(decoded.summary.ok()) << decoded.summary.status();
  EXPECT_EQ(decoded.samples.size(), 150u * 320);
  EXPECT_EQ(decoded.summary->note, "");
}

// By position: somebody else may be reading the same memfd.
TEST_F(SoundTest, IsReadFromItsBeginningWhereverTheDescriptorStands) {
  const std::string bytes = ReadFile(MakeMedia("seek.m4a", Tone(1)));
  const OwnedFd fd = MemfdOf(bytes);  // stands at its end
  ASSERT_TRUE(Decode(fd.get()).summary.ok());
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), static_cast<off_t>(bytes.size()));
}

// The worker would have computed the same, to the last bit.
TEST_F(SoundTest, OfPcmAtTheEnginesRateIsNotChanged) {
  std::vector<std::string> arguments = Tone(1, 16000);
  const Decoded decoded = DecodeFile(MakeMedia("exact.wav", arguments));
  const std::string bytes = ReadFile(testing::TempDir() + "/exact.wav");
  ASSERT_EQ(decoded.samples.size(), 16000u);
  const size_t header = bytes.size() - 32000;
  for (size_t at = 0; at < decoded.samples.size(); ++at) {
    const auto low = static_cast<unsigned char>(bytes[header + 2 * at]);
    const auto high = static_cast<signed char>(bytes[header + 2 * at + 1]);
    ASSERT_EQ(decoded.samples[at], static_cast<float>(high * 256 + low) / 32768.0F) << at;
  }
}

TEST_F(SoundTest, ThatComesThroughAPipeIsDecoded) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const OwnedFd reading(ends[0]);
  OwnedFd writing(ends[1]);
  const std::string bytes = ReadFile(MakeMedia("piped.webm", Tone(1)));
  const std::unique_ptr<DecodeProcess> process = Start();
  ASSERT_TRUE(process->Begin(reading.get()).ok());
  ASSERT_LT(bytes.size(), 65536u);  // all of it fits into the pipe
  ASSERT_EQ(write(writing.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  writing.Reset();
  const std::vector<float> samples = ReadSamples(process->pcm_fd());
  const absl::StatusOr<DecodeSummary> summary = process->Finish();
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_NEAR(static_cast<double>(samples.size()), 16000, 320);
}

}  // namespace
}  // namespace superfluid::decode
