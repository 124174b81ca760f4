#include "engine/audio/audio_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/audio/read_all.h"
#include "tests/engine/audio/sound_bytes.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;

constexpr int kWav16 = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
// Where the fields of a plain wav header are.
constexpr size_t kWavChannels = 22;
constexpr size_t kWavRate = 24;
constexpr size_t kWavDataLength = 40;

absl::StatusOr<std::unique_ptr<AudioSource>> Open(
    const std::string& bytes,  // must outlive the source
    const AudioLimits& limits = {}) {
  return OpenAudioMemory(AsBytes(bytes), nullptr, "talk.wav", limits);
}

absl::Status OpenStatus(const std::string& bytes) { return Open(bytes).status(); }

std::vector<float> Decode(const std::string& bytes, size_t block = 160) {
  absl::StatusOr<std::unique_ptr<AudioSource>> source = Open(bytes);
  EXPECT_TRUE(source.ok()) << source.status();
  if (!source.ok()) return {};
  ReadResult result = ReadAll(**source, block);
  EXPECT_TRUE(result.status.ok()) << result.status;
  return result.samples;
}

std::vector<float> Noise(size_t count) {
  std::vector<float> samples(count);
  uint32_t state = 1;
  for (float& sample : samples) {
    state = state * 1664525 + 1013904223;
    sample = static_cast<float>(static_cast<int32_t>(state)) / 4294967296.0F;
  }
  return samples;
}

// The largest difference to the sine that Sine() makes, away from the edges.
double SineError(const std::vector<float>& samples, double hz = 440) {
  const std::vector<float> ideal =
      Sine(kEngineSampleRateHz, 1, static_cast<double>(samples.size()) / kEngineSampleRateHz, hz);
  const size_t margin = 800;
  double worst = 0;
  for (size_t i = margin; i + margin < std::min(samples.size(), ideal.size()); ++i) {
    worst = std::max(worst, static_cast<double>(std::abs(samples[i] - ideal[i])));
  }
  return worst;
}

struct Format {
  const char* name;
  int format;
  int rate_hz;
  int channels;
  double tolerance;
  size_t length_tolerance;  // samples at 16 kHz
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

class AudioFormatTest : public testing::TestWithParam<Format> {};

TEST_P(AudioFormatTest, ASineStaysASine) {
  const Format& format = GetParam();
  const std::string bytes = EncodeSound(format.format, format.rate_hz, format.channels,
                                        Sine(format.rate_hz, format.channels, 2.0));
  const std::vector<float> samples = Decode(bytes);
  EXPECT_NEAR(static_cast<double>(samples.size()), 2.0 * kEngineSampleRateHz,
              static_cast<double>(format.length_tolerance));
  EXPECT_LT(SineError(samples), format.tolerance);
}

TEST_P(AudioFormatTest, TellsItsLength) {
  const Format& format = GetParam();
  const std::string bytes = EncodeSound(format.format, format.rate_hz, format.channels,
                                        Sine(format.rate_hz, format.channels, 2.0));
  absl::StatusOr<std::unique_ptr<AudioSource>> source = Open(bytes);
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_TRUE((*source)->TotalDuration().has_value());
  EXPECT_NEAR(absl::ToDoubleSeconds(*(*source)->TotalDuration()), 2.0, 0.11);
}

TEST_P(AudioFormatTest, BlockSizesDoNotMatter) {
  const Format& format = GetParam();
  const std::string bytes = EncodeSound(format.format, format.rate_hz, format.channels,
                                        Sine(format.rate_hz, format.channels, 0.7));
  const std::vector<float> whole = Decode(bytes, 1 << 20);
  EXPECT_EQ(Decode(bytes, 1), whole);
  EXPECT_EQ(Decode(bytes, 333), whole);
}

INSTANTIATE_TEST_SUITE_P(
    All, AudioFormatTest,
    testing::Values(Format{"Wav16Mono16k", kWav16, 16000, 1, 1e-4, 0},
                    Format{"Wav8Bit8kStereo", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 8000, 2, 0.01, 0},
                    Format{"WavFloat192k", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 192000, 1, 1e-4, 0},
                    Format{"WavDouble44k", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 44100, 2, 1e-4, 0},
                    Format{"Wav24Bit48kSixChannels", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 48000, 6,
                           1e-4, 0},
                    Format{"WavULaw", SF_FORMAT_WAV | SF_FORMAT_ULAW, 8000, 1, 0.02, 0},
                    Format{"Flac44kStereo", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 2, 1e-4, 0},
                    Format{"OggVorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100, 2, 0.05, 0},
                    Format{"OggOpus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 1, 0.05, 0},
                    Format{"Aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 22050, 1, 1e-4, 0},
                    Format{"Au", SF_FORMAT_AU | SF_FORMAT_PCM_16, 11025, 1, 1e-4, 0},
                    Format{"Caf", SF_FORMAT_CAF | SF_FORMAT_PCM_16, 32000, 1, 1e-4, 0},
                    Format{"Rate768k", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 768000, 1, 1e-4, 0}),
    [](const auto& test) { return std::string(test.param.name); });

// mp3 has encoder delay and padding, so it gets a test of its own kind.
TEST(AudioFileTest, DecodesMp3) {
  const std::string bytes =
      EncodeSound(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 2, Sine(44100, 2, 2.0));
  const std::vector<float> samples = Decode(bytes);
  EXPECT_NEAR(static_cast<double>(samples.size()), 2.0 * kEngineSampleRateHz, 2000);
  EXPECT_NEAR(*std::max_element(samples.begin() + 8000, samples.begin() + 24000), 0.5, 0.05);
}

TEST(AudioFileTest, LengthIsRoundedToTheSample) {
  for (const int frames : {1, 2, 7, 441, 44099, 44101}) {
    const std::string bytes =
        EncodeSound(kWav16, 44100, 1, std::vector<float>(static_cast<size_t>(frames), 0.1F));
    const auto wanted = static_cast<size_t>(std::llround(frames * 16000.0 / 44100));
    EXPECT_EQ(Decode(bytes).size(), wanted) << frames;
  }
}

TEST(AudioFileTest, AveragesChannels) {
  std::vector<float> samples;
  for (int i = 0; i < 100; ++i) samples.insert(samples.end(), {0.5F, -0.1F});
  for (const float sample : Decode(EncodeSound(kWav16, 16000, 2, samples))) {
    ASSERT_NEAR(sample, 0.2, 1e-4);
  }
}

TEST(AudioFileTest, SanitisesNotFiniteAndLoudSamples) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> samples = {std::nanf(""), inf, -inf, 7.0F, -7.0F, 0.25F, 3e38F};
  const std::string bytes = EncodeSound(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, samples);
  EXPECT_EQ(Decode(bytes), (std::vector<float>{0, 0, 0, 1, -1, 0.25F, 1}));
}

TEST(AudioFileTest, ResamplingNotFiniteSamplesStaysFinite) {
  std::vector<float> samples = Sine(44100, 1, 0.2);
  samples[100] = std::nanf("");
  samples[200] = std::numeric_limits<float>::max();
  for (const float sample :
       Decode(EncodeSound(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 44100, 1, samples))) {
    ASSERT_TRUE(std::isfinite(sample));
    ASSERT_LE(std::abs(sample), 1.0F);
  }
}

TEST(AudioFileTest, ReadsADescriptorWhateverItsPosition) {
  const std::string bytes = EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 0.5));
  const int fd = FileWith(bytes);
  lseek(fd, 17, SEEK_SET);
  absl::StatusOr<std::unique_ptr<AudioSource>> source = OpenAudioFile(fd, "talk.wav");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(ReadAll(**source).samples, Decode(bytes));
}

TEST(AudioFileTest, ClosesTheDescriptorInEveryCase) {
  const int good = FileWith(EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 0.1)));
  { EXPECT_TRUE(OpenAudioFile(good, "a").ok()); }
  EXPECT_EQ(fcntl(good, F_GETFD), -1);
  const int bad = FileWith("not audio at all");
  EXPECT_FALSE(OpenAudioFile(bad, "a").ok());
  EXPECT_EQ(fcntl(bad, F_GETFD), -1);
}

TEST(AudioFileTest, AFileThatShrinksMeanwhileEndsWithAnError) {
  const int fd = FileWith(EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 5)));
  const int other = dup(fd);
  absl::StatusOr<std::unique_ptr<AudioSource>> source = OpenAudioFile(fd, "talk.wav");
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_EQ(ftruncate(other, 44 + 32000), 0);
  close(other);
  const ReadResult result = ReadAll(**source);
  EXPECT_EQ(result.samples.size(), 16000u);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << result.status;
}

// An I/O error is no damage. A descriptor that was not opened for reading gives one.
TEST(AudioFileTest, AFileThatCannotBeReadIsNoDamagedOne) {
  const std::string path = testing::TempDir() + "/cannot_be_read.wav";
  std::ofstream(path, std::ios::binary) << EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 0.1));
  const auto source = OpenAudioFile(open(path.c_str(), O_WRONLY | O_CLOEXEC), "talk.wav");
  ASSERT_EQ(source.status().code(), absl::StatusCode::kInternal) << source.status();
  EXPECT_NE(source.status().message().find("talk.wav"), std::string::npos);
}

TEST(AudioFileTest, KeepsTheMemoryAlive) {
  auto bytes = std::make_shared<std::string>(EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 0.5)));
  std::weak_ptr<std::string> watch = bytes;
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      OpenAudioMemory(AsBytes(*bytes), bytes, "talk.wav");
  bytes.reset();
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(ReadAll(**source).samples.size(), 8000u);
  source->reset();
  EXPECT_TRUE(watch.expired());
}

// Errors.

class BadAudioTest : public testing::Test {
 protected:
  static void ExpectInvalid(const absl::Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    EXPECT_THAT(std::string(status.message()), HasSubstr("\"talk.wav\": "));
  }
};

TEST_F(BadAudioTest, Empty) { ExpectInvalid(OpenStatus(""), "it is empty"); }

TEST_F(BadAudioTest, RandomBytes) {
  std::string bytes;
  for (const float sample : Noise(20000)) bytes += static_cast<char>(sample * 256);
  ExpectInvalid(OpenStatus(bytes), "not audio in a format that is known");
}

TEST_F(BadAudioTest, HeaderOnlyWav) {
  const std::string bytes = EncodeSound(kWav16, 16000, 1, {});
  ExpectInvalid(OpenStatus(bytes), "holds no audio");
  const std::string cut = EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 1)).substr(0, 44);
  ExpectInvalid(OpenStatus(cut), "holds no audio");
}

TEST_F(BadAudioTest, ADirectoryDescriptor) {
  const int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ExpectInvalid(OpenAudioFile(fd, "talk.wav").status(), "not a regular file");
}

TEST_F(BadAudioTest, SampleRateZero) {
  std::string bytes = EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 1));
  Patch(bytes, kWavRate, std::string(4, '\0'));
  ExpectInvalid(OpenStatus(bytes), "sample rate of 0");
}

TEST_F(BadAudioTest, AbsurdSampleRate) {
  std::string bytes = EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 1));
  Patch(bytes, kWavRate, "\xff\xff\xff\x7f");
  ExpectInvalid(OpenStatus(bytes), "2147483647 Hz is not supported");
}

TEST_F(BadAudioTest, TooManyChannels) {
  std::string bytes = EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 1));
  Patch(bytes, kWavChannels, std::string("\xe8\x03", 2));
  ExpectInvalid(OpenStatus(bytes), "1000 audio channels are not supported");
}

TEST_F(BadAudioTest, DamagedFlacHeader) {
  std::string bytes = EncodeSound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1, Sine(16000, 1, 1));
  ExpectInvalid(OpenStatus(bytes.substr(0, 20)), "looks like a flac file");
}

TEST_F(BadAudioTest, TruncatedFlacDeliversWhatItHasAndThenFails) {
  const std::string bytes = EncodeSound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1, Noise(160000));
  const std::vector<float> whole = Decode(bytes);
  const std::string cut = bytes.substr(0, bytes.size() / 2);
  absl::StatusOr<std::unique_ptr<AudioSource>> source = Open(cut);
  ASSERT_TRUE(source.ok()) << source.status();
  const ReadResult result = ReadAll(**source);
  ASSERT_GT(result.samples.size(), 60000u);
  ASSERT_LT(result.samples.size(), 81000u);
  EXPECT_TRUE(std::equal(result.samples.begin(), result.samples.end(), whole.begin()));
  ExpectInvalid(result.status, "of 10 s could be decoded");
  EXPECT_EQ(ReadAll(**source).status, result.status) << "an error stays";
}

TEST_F(BadAudioTest, DamageInTheMiddleOfAFlac) {
  std::string bytes = EncodeSound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1, Noise(160000));
  Patch(bytes, bytes.size() / 2, std::string(2000, '\x55'));
  absl::StatusOr<std::unique_ptr<AudioSource>> source = Open(bytes);
  ASSERT_TRUE(source.ok()) << source.status();
  ExpectInvalid(ReadAll(**source).status, "damaged");
}

TEST_F(BadAudioTest, AWavThatClaimsFourGigabytesEndsWhereItsDataEnd) {
  std::string bytes = EncodeSound(kWav16, 16000, 1, Sine(16000, 1, 1));
  Patch(bytes, 4, "\xff\xff\xff\xff");
  Patch(bytes, kWavDataLength, "\xff\xff\xff\xff");
  EXPECT_EQ(Decode(bytes).size(), 16000u);
  absl::StatusOr<std::unique_ptr<AudioSource>> source = Open(bytes);
  EXPECT_EQ((*source)->TotalDuration(), absl::Seconds(1));
}

TEST_F(BadAudioTest, StopsAtTheDurationLimit) {
  const std::string bytes =
      EncodeSound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1, std::vector<float>(160000));
  absl::StatusOr<std::unique_ptr<AudioSource>> source =
      Open(bytes, AudioLimits{.max_duration = absl::Seconds(3)});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->TotalDuration(), std::nullopt) << "a claim beyond the limit is no length";
  const ReadResult result = ReadAll(**source);
  EXPECT_NEAR(static_cast<double>(result.samples.size()), 48000, 400);
  ExpectInvalid(result.status, "longer than 3s");
}

TEST_F(BadAudioTest, NamesThatAreNotUtf8AreEscaped) {
  const absl::Status status = OpenAudioMemory({}, nullptr, "a\xff\n.wav").status();
  EXPECT_EQ(status.message(), "\"a\\xff\\x0a.wav\": it is empty");
}

// Every prefix and many one-byte changes: whatever happens, it is a result or a Status.
class MangledAudioTest : public testing::TestWithParam<int> {};

TEST_P(MangledAudioTest, NeverCrashes) {
  const std::string good = EncodeSound(GetParam(), 16000, 1, Sine(16000, 1, 0.3));
  uint32_t state = 7;
  const auto next = [&state] { return (state = state * 1664525 + 1013904223) >> 8; };
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good;
    if (round % 2 == 0) bytes.resize(next() % good.size());
    for (int i = 0; i < 3 && !bytes.empty(); ++i) {
      const size_t limit = round % 4 < 2 ? std::min<size_t>(bytes.size(), 128) : bytes.size();
      bytes[next() % limit] = static_cast<char>(next());
    }
    absl::StatusOr<std::unique_ptr<AudioSource>> source =
        Open(bytes, AudioLimits{.max_duration = absl::Seconds(20)});
    if (!source.ok()) continue;
    EXPECT_LE(ReadAll(**source).samples.size(), 16000u * 25);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, MangledAudioTest,
                         testing::Values(kWav16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                                         SF_FORMAT_OGG | SF_FORMAT_VORBIS,
                                         SF_FORMAT_OGG | SF_FORMAT_OPUS,
                                         SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III,
                                         SF_FORMAT_AIFF | SF_FORMAT_PCM_16));

}  // namespace
}  // namespace superfluid
