// A file that was cut short gives what it holds and then an error; a whole one gives none, whatever
// it says of its length.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/audio/audio_file.h"
#include "engine/audio/promised_length.h"
#include "tests/engine/audio/read_all.h"
#include "tests/engine/audio/sound_bytes.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;

constexpr int kWav16 = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
constexpr int kMp3 = SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
constexpr size_t kWavDataLength = 40;  // where a plain wav header has it

ReadResult Decode(const std::string& bytes) {
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      OpenAudioMemory(AsBytes(bytes), nullptr, "talk");
  if (!source.ok()) return {.samples = {}, .status = source.status()};
  return ReadAll(**source);
}

// Five seconds in which no second sounds like another.
std::string FiveSeconds(int format, int rate_hz, int channels) {
  std::vector<float> samples;
  for (int second = 1; second <= 5; ++second) {
    const std::vector<float> more = Sine(rate_hz, channels, 1, 100.0 * second);
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return EncodeSound(format, rate_hz, channels, samples);
}

std::string Wav() { return FiveSeconds(kWav16, 16000, 1); }

std::string Little32(uint32_t number) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &number, 4);
  return bytes;
}

// The same sound with another length in its header.
std::string WavThatClaims(uint32_t data_bytes) {
  std::string bytes = Wav();
  Patch(bytes, 4, Little32(data_bytes + 36));
  Patch(bytes, kWavDataLength, Little32(data_bytes));
  return bytes;
}

struct Format {
  const char* name;
  int format;
  int rate_hz;
  int channels;
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

class TruncatedAudioTest : public testing::TestWithParam<Format> {
 protected:
  static std::string Whole() {
    return FiveSeconds(GetParam().format, GetParam().rate_hz, GetParam().channels);
  }
};

TEST_P(TruncatedAudioTest, AWholeFileEndsWell) {
  const ReadResult result = Decode(Whole());
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_NEAR(static_cast<double>(result.samples.size()), 80000, 4000);
}

TEST_P(TruncatedAudioTest, ACutFileGivesItsSoundAndThenAnError) {
  const std::string bytes = Whole();
  const ReadResult whole = Decode(bytes);
  for (const double share : {0.5, 0.7, 0.9}) {
    const auto length = static_cast<size_t>(share * static_cast<double>(bytes.size()));
    const ReadResult cut = Decode(bytes.substr(0, length));
    EXPECT_EQ(cut.status.code(), absl::StatusCode::kInvalidArgument) << share;
    EXPECT_THAT(std::string(cut.status.message()), HasSubstr("cut short: ")) << share;
    EXPECT_THAT(std::string(cut.status.message()), HasSubstr(" could be decoded")) << share;
    // Bytes are not spread evenly over the time, and what is not a whole ogg page is lost.
    EXPECT_GE(static_cast<double>(cut.samples.size()) / 80000, share / 2) << share;
    EXPECT_LT(cut.samples.size(), whole.samples.size());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TruncatedAudioTest,
    testing::Values(Format{"Wav", kWav16, 16000, 1},
                    Format{"Wav8BitStereo", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 8000, 2},
                    Format{"WavFloat48k", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 48000, 2},
                    Format{"WavAdpcm", SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 44100, 2},
                    Format{"WavBigEndian", kWav16 | SF_ENDIAN_BIG, 44100, 1},
                    Format{"Rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 44100, 2},
                    Format{"W64", SF_FORMAT_W64 | SF_FORMAT_PCM_16, 44100, 2},
                    Format{"Aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 22050, 1},
                    Format{"Au", SF_FORMAT_AU | SF_FORMAT_PCM_16, 11025, 1},
                    Format{"Flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 1},
                    Format{"OggVorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 2},
                    Format{"OggOpus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 1},
                    Format{"Mp3Stereo", kMp3, 44100, 2}, Format{"Mp3Mono16k", kMp3, 16000, 1}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TruncatedWavTest, SaysHowMuchThereIs) {
  const ReadResult result = Decode(Wav().substr(0, 44 + 32001));
  EXPECT_EQ(result.samples.size(), 16000u);
  EXPECT_EQ(std::string(result.status.message()),
            "\"talk\": the data are damaged or cut short: 1 s of 5 s could be decoded");
}

TEST(TruncatedWavTest, TheSoundIsThatOfTheWholeFile) {
  const ReadResult whole = Decode(Wav());
  const ReadResult cut = Decode(Wav().substr(0, 60000));
  EXPECT_TRUE(std::equal(cut.samples.begin(), cut.samples.end(), whole.samples.begin()));
}

TEST(TruncatedWavTest, LengthsThatMeanUnknownAreNoPromise) {
  for (const uint32_t claim : {0x7FFFF000u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFF0u, ~0u}) {
    const ReadResult result = Decode(WavThatClaims(claim));
    EXPECT_TRUE(result.status.ok()) << claim << ": " << result.status;
    EXPECT_EQ(result.samples.size(), 80000u) << claim;
  }
}

TEST(TruncatedWavTest, ARecordingThatWasNeverClosedIsWhatItHolds) {
  std::string bytes = Wav();
  Patch(bytes, 4, Little32(8));
  Patch(bytes, kWavDataLength, Little32(0));
  const ReadResult result = Decode(bytes);
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.samples.size(), 80000u);
}

TEST(TruncatedWavTest, AHeaderThatIsWrongByAFewBytesIsHarmless) {
  EXPECT_TRUE(Decode(WavThatClaims(160000 + 36)).status.ok());
  EXPECT_TRUE(Decode(WavThatClaims(160000 + 300)).status.ok());
  EXPECT_FALSE(Decode(WavThatClaims(160000 + 400)).status.ok());
}

TEST(TruncatedWavTest, WhatFollowsTheSamplesDoesNotMatter) {
  EXPECT_TRUE(Decode(Wav() + "LIST" + Little32(4) + "INFO").status.ok());
  EXPECT_TRUE(Decode(Wav() + "LIST" + Little32(4000) + "INFO").status.ok());
}

TEST(TruncatedWavTest, ChunksBeforeTheSamplesAreSteppedOver) {
  std::string bytes = Wav();
  bytes.insert(36, "JUNK" + Little32(3) + std::string(4, '\0'));  // padded to an even length
  EXPECT_TRUE(Decode(bytes).status.ok());
  EXPECT_FALSE(Decode(bytes.substr(0, 100000)).status.ok());
}

TEST(TruncatedMp3Test, WithoutALengthItEndsWhereItsDataEnd) {
  std::string bytes = FiveSeconds(kMp3, 44100, 2);
  const size_t info = std::min(bytes.find("Info"), bytes.find("Xing"));
  ASSERT_NE(info, std::string::npos);
  Patch(bytes, info, std::string(4, '\0'));
  EXPECT_TRUE(Decode(bytes).status.ok());
  EXPECT_TRUE(Decode(bytes.substr(0, bytes.size() / 2)).status.ok());
}

TEST(TruncatedMp3Test, TagsAreSteppedOver) {
  // An ID3v2 tag of 300 bytes: two times 128, and 44.
  const std::string tag = std::string("ID3\3\0\0\0\0\2\x2c", 10) + std::string(300, '\0');
  const std::string bytes = tag + FiveSeconds(kMp3, 44100, 2);
  EXPECT_TRUE(Decode(bytes).status.ok());
  EXPECT_FALSE(Decode(bytes.substr(0, bytes.size() / 2)).status.ok());
}

TEST(TruncatedOggTest, ACutBetweenTwoPagesIsNoticedByWhatFollowsOnly) {
  const std::string bytes = FiveSeconds(SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 2);
  const size_t last_page = bytes.rfind("OggS");
  ASSERT_GT(last_page, 10000u);
  EXPECT_TRUE(Decode(bytes.substr(0, last_page)).status.ok()) << "as writers of streams leave it";
  for (const size_t more : {1, 4, 5, 27, 60}) {
    EXPECT_FALSE(Decode(bytes.substr(0, last_page + more)).status.ok()) << more;
  }
  EXPECT_TRUE(Decode(bytes + "TAG" + std::string(125, ' ')).status.ok());
}

// Damaged structure: no answer is wrong, but there must be one, within the bytes.
class BytesInMemory : public ByteSource {
 public:
  explicit BytesInMemory(std::string bytes) : bytes_(std::move(bytes)) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  size_t ReadAt(int64_t offset, void* to, size_t count) override {
    return bytes_.copy(static_cast<char*>(to), count, static_cast<size_t>(offset));
  }

 private:
  std::string bytes_;
};

TEST(PromisedLengthTest, SurvivesAnything) {
  const std::string starts[] = {"RIFF", "RIFX", "RF64",  "riff.",       "FORM",
                                ".snd", "OggS", "ID3\3", "\xFF\xFB\x90"};
  uint32_t state = 7;
  const auto next = [&state] { return (state = state * 1664525 + 1013904223) >> 8U; };
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = starts[next() % std::size(starts)];
    for (uint32_t i = next() % 200; i > 0; --i) bytes += static_cast<char>(next());
    for (const char* inside : {"data", "ds64", "SSND", "OggS", "Xing"}) {
      if (next() % 3 == 0) bytes.insert(next() % bytes.size(), inside);
    }
    BytesInMemory source(bytes);
    const PromisedLength promised = ReadPromisedLength(source, next(), 16000);
    EXPECT_GE(promised.frames.value_or(0), 0);
  }
}

}  // namespace
}  // namespace superfluid
