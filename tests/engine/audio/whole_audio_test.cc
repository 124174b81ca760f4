// All of the audio: files whose headers say less than they hold, several files in a row, damage in
// the middle, channels that cancel each other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/audio/audio_file.h"
#include "tests/engine/audio/read_all.h"
#include "tests/engine/audio/sound_bytes.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;

constexpr int kWav16 = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
constexpr int kFlac = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
constexpr int kVorbis = SF_FORMAT_OGG | SF_FORMAT_VORBIS;
constexpr int kOpus = SF_FORMAT_OGG | SF_FORMAT_OPUS;
constexpr int kMp3 = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
constexpr size_t kWavAllLength = 4;
constexpr size_t kWavDataLength = 40;  // where a plain wav header has it

struct Heard {
  ReadResult result;
  std::string remark;
};

Heard Hear(const std::string& bytes) {
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      OpenAudioMemory(AsBytes(bytes), nullptr, "talk");
  if (!source.ok()) return {.result = {.samples = {}, .status = source.status()}, .remark = {}};
  Heard heard{.result = ReadAll(**source), .remark = {}};
  heard.remark = (*source)->Remark();
  return heard;
}

double SecondsOf(const Heard& heard) {
  return static_cast<double>(heard.result.samples.size()) / kEngineSampleRateHz;
}

// The root of the mean square between two times.
double Loudness(const Heard& heard, double from, double to) {
  const auto begin = static_cast<size_t>(from * kEngineSampleRateHz);
  const auto end =
      std::min(static_cast<size_t>(to * kEngineSampleRateHz), heard.result.samples.size());
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    sum += static_cast<double>(heard.result.samples[i]) * heard.result.samples[i];
  }
  return begin < end ? std::sqrt(sum / static_cast<double>(end - begin)) : 0;
}

// Loudness(Sine()), about.
constexpr double kSineLoudness = 0.35;

// Takes the frame that tells the length its name.
std::string WithoutLength(std::string mp3) {
  for (const char* name : {"Info", "Xing"}) {
    if (const size_t at = mp3.find(name); at < 4096) Patch(mp3, at, std::string(4, '\0'));
  }
  return mp3;
}

std::string Little32(uint32_t number) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &number, 4);
  return bytes;
}

// ---- mp3 ----

TEST(WholeMp3Test, OneThatDoesNotTellItsLengthIsReadToItsEndWhateverItsBitRates) {
  const std::string high = WithoutLength(EncodeMp3(44100, 2, Sine(44100, 2, 2), 0));
  const std::string low = WithoutLength(EncodeMp3(44100, 2, Sine(44100, 2, 8), 1));
  ASSERT_GT(high.size(), low.size() / 3);
  for (const std::string& bytes : {high + low, low + high}) {
    const Heard heard = Hear(bytes);
    EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
    EXPECT_NEAR(SecondsOf(heard), 10, 0.3);
    EXPECT_NEAR(Loudness(heard, 9, 9.5), kSineLoudness, 0.05);
  }
}

TEST(WholeMp3Test, WhatLiesBehindDamageIsHeardAndTheDamageIsSaid) {
  std::string bytes = EncodeMp3(44100, 2, Sine(44100, 2, 10), 0.5);
  const size_t middle = bytes.size() / 2;
  Patch(bytes, middle, std::string(bytes.size() / 10, '\x55'));
  testing::internal::CaptureStderr();
  const Heard heard = Hear(bytes);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "a library's own lines";
  EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
  EXPECT_GT(SecondsOf(heard), 8.5);
  EXPECT_NEAR(Loudness(heard, 8, 8.5), kSineLoudness, 0.05);
  EXPECT_THAT(heard.remark, HasSubstr("damaged in "));
  EXPECT_THAT(heard.remark, HasSubstr("could not be decoded"));
}

TEST(WholeMp3Test, AWholeOneHasNoRemark) {
  EXPECT_EQ(Hear(EncodeMp3(44100, 2, Sine(44100, 2, 3), 0.5)).remark, "");
}

TEST(WholeMp3Test, TagsBetweenFilesAreNoDamage) {
  const std::string tag = std::string("ID3\3\0\0\0\0\2\x2c", 10) + std::string(300, '\0');
  const std::string one = EncodeMp3(44100, 2, Sine(44100, 2, 2), 0.5);
  const Heard heard = Hear(tag + one + tag + one + "TAG" + std::string(125, ' '));
  EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
  EXPECT_EQ(heard.remark, "");
  EXPECT_NEAR(SecondsOf(heard), 4, 0.2);
}

// ---- Several files in a row ----

struct Format {
  const char* name;
  int format;
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

class JoinedAudioTest : public testing::TestWithParam<Format> {
 protected:
  // A tone; the level of compression varies by `rate_hz`.
  static std::string File(double seconds, int rate_hz = 48000, int channels = 2) {
    return EncodeSound(GetParam().format, rate_hz, channels, Sine(rate_hz, channels, seconds));
  }
};

TEST_P(JoinedAudioTest, AllOfThemAreHeard) {
  const Heard heard = Hear(File(1) + File(2) + File(3));
  EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
  EXPECT_NEAR(SecondsOf(heard), 6, 0.3);
  for (const double at : {0.4, 2.0, 4.5}) {
    EXPECT_NEAR(Loudness(heard, at, at + 0.4), kSineLoudness, 0.05) << at;
  }
}

TEST_P(JoinedAudioTest, EachMayHaveItsOwnRateAndChannels) {
  const Heard heard = Hear(File(1, 48000, 2) + File(2, 16000, 1) + File(1, 24000, 2));
  EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
  EXPECT_NEAR(SecondsOf(heard), 4, 0.3);
  EXPECT_NEAR(Loudness(heard, 1.5, 2.5), kSineLoudness, 0.05);
  EXPECT_NEAR(Loudness(heard, 3.4, 3.7), kSineLoudness, 0.05);
}

TEST_P(JoinedAudioTest, BlockSizesDoNotMatter) {
  const std::string bytes = File(0.5, 48000, 2) + File(0.5, 16000, 1);
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      OpenAudioMemory(AsBytes(bytes), nullptr, "talk");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(ReadAll(**source, 1 << 20).samples, Hear(bytes).result.samples);
}

TEST_P(JoinedAudioTest, OneIsWhatItWas) {
  const Heard heard = Hear(File(3));
  EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
  EXPECT_NEAR(SecondsOf(heard), 3, 0.15);
}

INSTANTIATE_TEST_SUITE_P(All, JoinedAudioTest,
                         testing::Values(Format{"Mp3", kMp3}, Format{"Vorbis", kVorbis},
                                         Format{"Opus", kOpus}, Format{"Flac", kFlac}),
                         [](const auto& test) { return std::string(test.param.name); });

std::string Flac(double seconds) { return EncodeSound(kFlac, 16000, 1, Sine(16000, 1, seconds)); }

// As a program leaves it that writes into a pipe: 36 bits that say how many samples there are.
std::string FlacOfUnknownLength(double seconds) {
  std::string bytes = Flac(seconds);
  bytes[21] = static_cast<char>(bytes[21] & 0xF0);
  Patch(bytes, 22, std::string(4, '\0'));
  return bytes;
}

TEST(JoinedFlacTest, LengthsThatAreNotKnownDoNotMatter) {
  const Heard heard = Hear(FlacOfUnknownLength(1) + FlacOfUnknownLength(2));
  EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
  EXPECT_NEAR(SecondsOf(heard), 3, 0.01);
}

TEST(JoinedFlacTest, OneThatIsCutShortAtTheEndIsSaidToBe) {
  const std::string second = Flac(4);
  const Heard heard = Hear(Flac(1) + second.substr(0, second.size() / 2));
  EXPECT_FALSE(heard.result.status.ok());
  EXPECT_GT(SecondsOf(heard), 2);
}

TEST(JoinedOggTest, OneThatIsCutShortAtTheEndIsSaidToBe) {
  const std::string one = EncodeSound(kVorbis, 44100, 2, Sine(44100, 2, 5));
  const Heard heard = Hear(one + one.substr(0, one.size() * 7 / 10));
  EXPECT_THAT(std::string(heard.result.status.message()), HasSubstr("cut short: "));
  EXPECT_GT(SecondsOf(heard), 6);
}

TEST(JoinedOggTest, OneThatCannotBeOpenedIsSaidToBe) {
  std::string second = EncodeSound(kVorbis, 44100, 2, Sine(44100, 2, 2));
  Patch(second, 28, "nothing");
  const Heard heard = Hear(EncodeSound(kVorbis, 44100, 2, Sine(44100, 2, 2)) + second);
  EXPECT_THAT(std::string(heard.result.status.message()), HasSubstr("number 2 cannot be decoded"));
  EXPECT_NEAR(SecondsOf(heard), 2, 0.1);
}

// ---- A length that is not known is no sign of live audio ----

TEST(UnknownLengthTest, AFileIsAFileAndItsSamplesAreTheSame) {
  const std::string bytes = FlacOfUnknownLength(3);
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      OpenAudioMemory(AsBytes(bytes), nullptr, "talk");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->TotalDuration(), std::nullopt);
  EXPECT_FALSE((*source)->IsLive());
  EXPECT_EQ(ReadAll(**source).samples, Hear(Flac(3)).result.samples);
}

// ---- wav ----

std::string Wav(int format = kWav16) { return EncodeSound(format, 16000, 1, Sine(16000, 1, 5)); }

// The same sound, whose header says that it has so many bytes.
std::string WavThatSays(uint32_t all_bytes, uint32_t data_bytes) {
  std::string bytes = Wav();
  Patch(bytes, kWavAllLength, Little32(all_bytes));
  Patch(bytes, kWavDataLength, Little32(data_bytes));
  return bytes;
}

TEST(WholeWavTest, OneThatHoldsMoreThanItSaysIsReadToItsEnd) {
  for (const uint32_t data_bytes : {0U, 2U, 32000U, 158000U}) {
    const Heard heard = Hear(WavThatSays(data_bytes + 36, data_bytes));
    EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
    EXPECT_EQ(heard.result.samples, Hear(Wav()).result.samples) << data_bytes;
  }
}

TEST(WholeWavTest, OneWhoseWriterWasKilledIsReadToItsEnd) {
  for (const uint32_t all_bytes : {0U, 8U, 36U}) {
    const Heard heard = Hear(WavThatSays(all_bytes, 0));
    EXPECT_TRUE(heard.result.status.ok()) << heard.result.status;
    EXPECT_EQ(heard.result.samples.size(), 80000U) << all_bytes;
  }
}

TEST(WholeWavTest, ABigEndianOneToo) {
  std::string bytes = Wav(kWav16 | SF_ENDIAN_BIG);
  const size_t data = bytes.find("data");
  Patch(bytes, data + 4, std::string("\0\0\x10\0", 4));
  EXPECT_EQ(Hear(bytes).result.samples.size(), 80000U);
}

TEST(WholeWavTest, ChunksAndTagsBehindTheSamplesAreNoSound) {
  const std::string list = "LIST" + Little32(4000) + "INFO" + std::string(3996, 'x');
  const std::string other = "abcd" + Little32(2000) + std::string(2000, '\1');
  const std::string tag = "ID3\3" + std::string(3000, '\0');
  for (const std::string& more : {list, other + list, tag, "LIST" + std::string(4000, '\x7f')}) {
    EXPECT_EQ(Hear(Wav() + more).result.samples.size(), 80000U) << more.substr(0, 4);
  }
}

TEST(WholeWavTest, AChunkOfAnOddLengthIsFollowedByAByteOrNot) {
  std::string bytes =
      EncodeSound(SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 16000, 1, std::vector<float>(16001, 0.5F));
  const std::string more = "abcd" + Little32(2000) + std::string(2000, '\1');
  for (const std::string& pad : {std::string(), std::string(1, '\0')}) {
    EXPECT_EQ(Hear(bytes.substr(0, 44 + 16001) + pad + more).result.samples.size(), 16001U);
  }
}

TEST(WholeWavTest, ALengthThatDidNotFitIsNoEnd) {
  // 4 GiB and a second of 192 kHz float stereo, of which the header can say the second only.
  const std::string head =
      EncodeSound(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 192000, 2, Sine(192000, 2, 1));
  const int fd = memfd_create("sound", MFD_CLOEXEC);
  ASSERT_EQ(write(fd, head.data(), head.size()), static_cast<ssize_t>(head.size()));
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(head.size()) + (off_t{1} << 32)), 0);
  absl::StatusOr<std::unique_ptr<AudioSource>> source = OpenAudioFile(fd, "talk.wav");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_GT((*source)->TotalDuration(), absl::Seconds(2796));
}

// ---- Channels ----

std::string Stereo(double left, double right) {
  std::vector<float> samples = Sine(16000, 2, 3);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(samples[i] * (i % 2 == 0 ? left : right));
  }
  return EncodeSound(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 2, samples);
}

TEST(ChannelsTest, OnesThatCancelEachOtherAreHeardAndItIsSaid) {
  for (const double right : {-1.0, -0.9, -1.1}) {
    const Heard heard = Hear(Stereo(1, right));
    EXPECT_NEAR(Loudness(heard, 0.02, 3), kSineLoudness, 0.05) << right;
    EXPECT_THAT(heard.remark, HasSubstr("channels cancel each other"));
  }
}

TEST(ChannelsTest, OnesThatDoNotAreAveraged) {
  for (const double right : {1.0, 0.0, 0.5, -0.3}) {
    const Heard heard = Hear(Stereo(1, right));
    EXPECT_NEAR(Loudness(heard, 0, 3), kSineLoudness * (1 + right) / 2, 0.01) << right;
    EXPECT_EQ(heard.remark, "");
  }
}

}  // namespace
}  // namespace superfluid
