#include "engine/audio/resampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/engine/audio/sound_bytes.h"

namespace superfluid {
namespace {

std::vector<float> PopAll(Resampler& resampler) {
  std::vector<float> out(resampler.available());
  resampler.Pop(absl::MakeSpan(out));
  return out;
}

class ResamplerRateTest : public testing::TestWithParam<int> {};

TEST_P(ResamplerRateTest, LengthAndPhaseAreExact) {
  const int rate = GetParam();
  const double hz = std::min(440.0, rate / 8.0);
  absl::StatusOr<Resampler> resampler = Resampler::Create(rate, 1);
  ASSERT_TRUE(resampler.ok());
  const std::vector<float> in = Sine(rate, 1, 1.37, hz);
  resampler->Push(in);
  resampler->Finish();
  const std::vector<float> out = PopAll(*resampler);
  ASSERT_EQ(out.size(),
            static_cast<size_t>(std::llround(static_cast<double>(in.size()) * 16000 / rate)));
  const std::vector<float> ideal = Sine(16000, 1, 1.37, hz);
  for (size_t i = 6000; i + 6000 < out.size(); ++i) ASSERT_NEAR(out[i], ideal[i], 1e-3) << i;
}

INSTANTIATE_TEST_SUITE_P(Rates, ResamplerRateTest,
                         testing::Values(100, 8000, 11025, 16000, 22050, 44100, 48000, 96000,
                                         768000));

TEST(ResamplerTest, RemovesWhatIsAboveHalfTheRate) {
  absl::StatusOr<Resampler> resampler = Resampler::Create(48000, 1);
  ASSERT_TRUE(resampler.ok());
  resampler->Push(Sine(48000, 1, 1.0, 11000));
  resampler->Finish();
  const std::vector<float> out = PopAll(*resampler);
  for (size_t i = 2000; i < 14000; ++i) ASSERT_NEAR(out[i], 0, 1e-3);
}

TEST(ResamplerTest, FinishIsIdempotent) {
  absl::StatusOr<Resampler> resampler = Resampler::Create(8000, 1);
  ASSERT_TRUE(resampler.ok());
  resampler->Push(std::vector<float>(80));
  resampler->Finish();
  resampler->Finish();
  EXPECT_EQ(resampler->available(), 160u);
}

}  // namespace
}  // namespace superfluid
