#include "engine/pocketsphinx/cepstral_mean.h"

#include <cstddef>
#include <utility>

namespace superfluid {

CepstralMean::CepstralMean(Cepstrum prior) : mean_(std::move(prior)) {
  for (const float value : mean_) sum_.push_back(value * kPriorFrames);
}

void CepstralMean::Observe(const Cepstrum& frame) {
  if (frame.empty() || frame[0] < 0) return;
  for (size_t i = 0; i < sum_.size() && i < frame.size(); ++i) sum_[i] += frame[i];
  weight_ += 1;
}

void CepstralMean::Update() {
  for (size_t i = 0; i < mean_.size(); ++i) mean_[i] = static_cast<float>(sum_[i] / weight_);
  if (weight_ <= kMostFrames) return;
  for (double& sum : sum_) sum *= kKeptFrames / weight_;
  weight_ = kKeptFrames;
}

void CepstralMean::Normalise(Cepstrum& frame) const {
  for (size_t i = 0; i < mean_.size() && i < frame.size(); ++i) frame[i] -= mean_[i];
}

}  // namespace superfluid
