#include "engine/pocketsphinx/cepstral_mean.h"

#include <gtest/gtest.h>

namespace superfluid {
namespace {

float Normalised(const CepstralMean& mean, float value) {
  Cepstrum frame = {value};
  mean.Normalise(frame);
  return frame[0];
}

TEST(CepstralMeanTest, StartsWithThePrior) {
  EXPECT_FLOAT_EQ(Normalised(CepstralMean({40.0F}), 42), 2);
}

TEST(CepstralMeanTest, ObservingChangesNothingUntilUpdate) {
  CepstralMean mean({40.0F});
  for (int i = 0; i < 5; ++i) mean.Observe({50.0F});
  EXPECT_FLOAT_EQ(Normalised(mean, 42), 2);
  mean.Update();
  EXPECT_FLOAT_EQ(Normalised(mean, 45), 0) << "five frames weigh as much as the prior";
}

TEST(CepstralMeanTest, IgnoresFramesWithoutEnergy) {
  CepstralMean mean({40.0F});
  for (int i = 0; i < 100; ++i) mean.Observe({-1.0F});
  mean.Observe({});
  mean.Update();
  EXPECT_FLOAT_EQ(Normalised(mean, 40), 0);
}

TEST(CepstralMeanTest, ForgetsWhatIsLongAgo) {
  CepstralMean mean({40.0F});
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 1000; ++i) mean.Observe({50.0F});
    mean.Update();
  }
  EXPECT_NEAR(Normalised(mean, 50), 0, 0.01);
  for (int i = 0; i < 500; ++i) mean.Observe({30.0F});
  mean.Update();
  EXPECT_NEAR(Normalised(mean, 40), 0, 0.1) << "five seconds weigh as much as all before";
}

}  // namespace
}  // namespace superfluid
