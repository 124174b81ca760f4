#include "engine/audio/pcm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/audio/read_all.h"
#include "tests/engine/audio/sound_bytes.h"

namespace superfluid {
namespace {

std::string S16(const std::vector<int16_t>& samples) {
  return {reinterpret_cast<const char*>(samples.data()), samples.size() * 2};
}

std::string F32(const std::vector<float>& samples) {
  return {reinterpret_cast<const char*>(samples.data()), samples.size() * 4};
}

std::vector<float> Decode(const std::string& bytes, const PcmFormat& format) {
  absl::StatusOr<std::unique_ptr<AudioSource>> source = OpenPcm(AsBytes(bytes), nullptr, format);
  EXPECT_TRUE(source.ok()) << source.status();
  return source.ok() ? ReadAll(**source).samples : std::vector<float>();
}

TEST(PcmTest, ReadsSigned16) {
  EXPECT_EQ(Decode(S16({0, 16384, -32768}), {}), (std::vector<float>{0, 0.5F, -1}));
}

TEST(PcmTest, ReadsFloatStereo) {
  const PcmFormat format = {.channels = 2, .encoding = PcmEncoding::kF32};
  EXPECT_EQ(Decode(F32({0.5F, 0.25F, -1, 0}), format), (std::vector<float>{0.375F, -0.5F}));
}

TEST(PcmTest, IgnoresALastIncompleteFrame) {
  EXPECT_EQ(Decode(S16({1, 2, 3}) + "x", {.channels = 2}).size(), 1u);
}

TEST(PcmTest, ConvertsTheRate) {
  const PcmFormat format = {.rate_hz = 48000, .encoding = PcmEncoding::kF32};
  EXPECT_EQ(Decode(F32(Sine(48000, 1, 1.5)), format).size(), 24000u);
}

TEST(PcmTest, TellsItsLength) {
  const std::string bytes = S16(std::vector<int16_t>(32000));
  absl::StatusOr<std::unique_ptr<AudioSource>> source = OpenPcm(AsBytes(bytes), nullptr, {});
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->TotalDuration(), absl::Seconds(2));
}

TEST(PcmTest, KeepsTheMemoryAlive) {
  auto bytes = std::make_shared<std::string>(S16(std::vector<int16_t>(1000)));
  std::weak_ptr<std::string> watch = bytes;
  absl::StatusOr<std::unique_ptr<AudioSource>> source = OpenPcm(AsBytes(*bytes), bytes, {});
  bytes.reset();
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(ReadAll(**source).samples.size(), 1000u);
  source->reset();
  EXPECT_TRUE(watch.expired());
}

TEST(PcmTest, RefusesWhatIsOutOfRange) {
  const auto code = [](const PcmFormat& format) { return ValidatePcmFormat(format).code(); };
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({.rate_hz = 0}), invalid);
  EXPECT_EQ(code({.rate_hz = -16000}), invalid);
  EXPECT_EQ(code({.rate_hz = 768001}), invalid);
  EXPECT_EQ(code({.channels = 0}), invalid);
  EXPECT_EQ(code({.channels = 33}), invalid);
  EXPECT_EQ(code({.encoding = static_cast<PcmEncoding>(9)}), invalid);
  EXPECT_EQ(code({.rate_hz = 100, .channels = 32}), absl::StatusCode::kOk);
  EXPECT_EQ(OpenPcm({}, nullptr, {.rate_hz = 0}).status().code(), invalid);
}

TEST(PcmTest, RefusesABufferWithoutAFrame) {
  EXPECT_EQ(OpenPcm({}, nullptr, {}).status().message(), "the PCM buffer holds no audio");
  EXPECT_FALSE(OpenPcm(AsBytes("abc"), nullptr, {.channels = 2}).ok());
}

}  // namespace
}  // namespace superfluid
