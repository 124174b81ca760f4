#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sampling/mix.h"
#include "engine/sampling/ranking.h"

namespace superfluid {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kFar = 1e30F;

void AddBias(absl::Span<float> logits, const LogitBias& bias) {
  for (const auto& [token, value] : bias) {
    if (token >= logits.size()) continue;
    float& logit = logits[token];
    logit = std::clamp(logit + value, -kFar, kFar);
    if (value == kNever) logit = kNever;
  }
}

void Penalise(absl::Span<float> logits, float penalty, absl::Span<const Token> history) {
  if (penalty == 0 || penalty == 1) return;
  std::vector<bool> seen(logits.size());
  for (const Token token : history) {
    if (token >= logits.size() || seen[token]) continue;
    seen[token] = true;
    float& logit = logits[token];
    if (logit == kNever) continue;
    logit = std::clamp(logit > 0 ? logit / penalty : logit * penalty, -kFar, kFar);
  }
}

absl::Status NothingLeft() {
  return absl::InvalidArgumentError("bias and grammar leave no token to draw");
}

// What temperature, top_k, top_p and min_p leave: the first ones of a ranking.
class Candidates {
 public:
  Candidates(Ranking& ranking, const SamplingParams& params)
      : ranking_(ranking), params_(params), most_(ranking.At(0)->logit) {
    if (params.top_k != 0) count_ = params.top_k;
    sum_ = SumOfKept();
    if (InUse(params.top_p)) KeepTopP();
    if (params.min_p > 0) KeepMinP();
  }

  Token Pick(double uniform) {
    double left = uniform * sum_;
    Token last = ranking_.At(0)->token;
    for (size_t i = 0; i < count_; ++i) {
      const TokenLogit* at = ranking_.At(i);
      if (at == nullptr) break;
      last = at->token;
      const double probability = Probability(*at);
      if (left < probability) break;
      left -= probability;
    }
    return last;
  }

 private:
  static bool InUse(float top_p) { return top_p > 0 && top_p < 1; }

  // Not normalised: that of the most likely one is 1.
  double Probability(const TokenLogit& at) const {
    return std::exp((static_cast<double>(at.logit) - most_) / params_.temperature);
  }

  double SumOfKept() {
    double sum = 0;
    if (count_ == SIZE_MAX) {
      for (const TokenLogit& at : ranking_.All()) sum += Probability(at);
      return sum;
    }
    for (size_t i = 0; i < count_; ++i) {
      const TokenLogit* at = ranking_.At(i);
      if (at == nullptr) break;
      sum += Probability(*at);
    }
    return sum;
  }

  void KeepTopP() {
    const double wanted = sum_ * params_.top_p;
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) {
      const TokenLogit* at = ranking_.At(i);
      if (at == nullptr) return;
      sum += Probability(*at);
      if (sum < wanted) continue;
      count_ = i + 1;
      sum_ = sum;
      return;
    }
  }

  void KeepMinP() {
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) {
      const TokenLogit* at = ranking_.At(i);
      if (at == nullptr || Probability(*at) < params_.min_p) {
        count_ = i;
        break;
      }
      sum += Probability(*at);
    }
    sum_ = sum;
  }

  Ranking& ranking_;
  const SamplingParams& params_;
  const double most_;
  size_t count_ = SIZE_MAX;
  double sum_ = 0;
};

Ranking RankingOf(absl::Span<const float> logits, const Draw& draw) {
  if (draw.filter == nullptr) return Ranking(logits);
  // How many tokens are tested at most instead of all being gathered.
  constexpr uint32_t kFew = 64;
  const bool few =
      draw.params->temperature == 0 || (draw.params->top_k != 0 && draw.params->top_k <= kFew);
  if (few && !draw.filter->IsCheap()) return Ranking::OneByOne(logits, *draw.filter);
  return {logits, *draw.filter};
}

bool InUnit(float value) { return value >= 0 && value <= 1; }
bool Finite(float value) { return std::isfinite(value) && value >= 0; }

}  // namespace

double DrawUniform(uint64_t seed, uint64_t position) {
  return static_cast<double>(Mix(Mix(seed + 1), position) >> 11U) * 0x1.0p-53;
}

absl::Status CheckSampling(const SamplingParams& params) {
  if (!Finite(params.temperature)) return absl::InvalidArgumentError("bad temperature");
  if (!InUnit(params.top_p)) return absl::InvalidArgumentError("top_p is not in [0, 1]");
  if (!InUnit(params.min_p)) return absl::InvalidArgumentError("min_p is not in [0, 1]");
  if (!Finite(params.repetition_penalty)) {
    return absl::InvalidArgumentError("bad repetition_penalty");
  }
  return absl::OkStatus();
}

absl::StatusOr<Token> DrawToken(absl::Span<float> logits, const Draw& draw) {
  const SamplingParams& params = *draw.params;
  if (draw.bias != nullptr) AddBias(logits, *draw.bias);
  Penalise(logits, params.repetition_penalty, draw.history);
  if (params.temperature == 0 && draw.filter == nullptr) {
    // As the ranking's first, without making one.
    size_t best = logits.size();
    for (size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] > (best == logits.size() ? kNever : logits[best])) best = i;
    }
    if (best == logits.size()) return NothingLeft();
    return static_cast<Token>(best);
  }
  Ranking ranking = RankingOf(logits, draw);
  const TokenLogit* first = ranking.At(0);
  if (first == nullptr) return NothingLeft();
  if (params.temperature == 0 || params.top_k == 1) return first->token;
  return Candidates(ranking, params).Pick(DrawUniform(params.seed, draw.history.size()));
}

std::vector<TokenLogit> TopLogits(absl::Span<const float> logits, size_t count) {
  Ranking ranking(logits);
  std::vector<TokenLogit> top;
  top.reserve(std::min(count, logits.size()));
  for (size_t i = 0; i < count; ++i) {
    const TokenLogit* at = ranking.At(i);
    if (at == nullptr) break;
    top.push_back(*at);
  }
  return top;
}

}  // namespace superfluid
