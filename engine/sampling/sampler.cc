#include "engine/sim/sim_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/sim/sim_model.h"

namespace superfluid {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kFar = 1e30F;

bool MoreLikely(const TokenLogit& left, const TokenLogit& right) {
  return left.logit != right.logit ? left.logit > right.logit : left.token < right.token;
}

void AddBias(absl::Span<float> logits, const SimBias& bias) {
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

void Mask(absl::Span<float> logits, const SimByteSet& allowed) {
  for (size_t token = 0; token < logits.size(); ++token) {
    if (token >= allowed.size() || !allowed[token]) logits[token] = kNever;
  }
}

struct Candidate {
  Token token = 0;
  double probability = 0;
};
using Candidates = std::vector<Candidate>;

double Sum(const Candidates& candidates) {
  double sum = 0;
  for (const Candidate& candidate : candidates) sum += candidate.probability;
  return sum;
}

// What temperature and top_k leave, most likely first; not normalised.
Candidates Heat(absl::Span<const float> logits, const SamplingParams& params) {
  const size_t count = params.top_k == 0 ? logits.size() : params.top_k;
  const std::vector<TokenLogit> likely = TopLogits(logits, count);
  Candidates candidates;
  for (const TokenLogit& at : likely) {
    if (at.logit == kNever) break;
    const double below = (static_cast<double>(at.logit) - likely[0].logit) / params.temperature;
    candidates.push_back({at.token, std::exp(below)});
  }
  return candidates;
}

void KeepTopP(Candidates& candidates, float top_p) {
  if (top_p == 0 || top_p >= 1) return;
  const double wanted = Sum(candidates) * top_p;
  double sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    sum += candidates[i].probability;
    if (sum < wanted) continue;
    candidates.resize(i + 1);
    return;
  }
}

void KeepMinP(Candidates& candidates, float min_p) {
  if (min_p == 0) return;
  const double floor = candidates[0].probability * min_p;
  while (candidates.back().probability < floor) candidates.pop_back();
}

Token Pick(const Candidates& candidates, double uniform) {
  double left = uniform * Sum(candidates);
  for (const Candidate& candidate : candidates) {
    if (left < candidate.probability) return candidate.token;
    left -= candidate.probability;
  }
  return candidates.back().token;
}

bool InUnit(float value) { return value >= 0 && value <= 1; }
bool Finite(float value) { return std::isfinite(value) && value >= 0; }

}  // namespace

absl::Status CheckSampling(const SamplingParams& params) {
  if (!Finite(params.temperature)) return absl::InvalidArgumentError("bad temperature");
  if (!InUnit(params.top_p)) return absl::InvalidArgumentError("top_p is not in [0, 1]");
  if (!InUnit(params.min_p)) return absl::InvalidArgumentError("min_p is not in [0, 1]");
  if (!Finite(params.repetition_penalty)) {
    return absl::InvalidArgumentError("bad repetition_penalty");
  }
  return absl::OkStatus();
}

absl::StatusOr<Token> DrawSimToken(absl::Span<float> logits, const SimDraw& draw) {
  const SamplingParams& params = *draw.params;
  if (draw.bias != nullptr) AddBias(logits, *draw.bias);
  Penalise(logits, params.repetition_penalty, draw.history);
  if (draw.allowed != nullptr) Mask(logits, *draw.allowed);
  // The first of equals: the lowest id.
  const auto* best = std::max_element(logits.begin(), logits.end());
  if (best == logits.end() || *best == kNever) {
    return absl::InvalidArgumentError("bias and grammar leave no token to draw");
  }
  if (params.temperature == 0) return static_cast<Token>(best - logits.begin());
  Candidates candidates = Heat(logits, params);
  KeepTopP(candidates, params.top_p);
  KeepMinP(candidates, params.min_p);
  return Pick(candidates, SimUniform(params.seed, draw.history.size()));
}

std::vector<TokenLogit> TopLogits(absl::Span<const float> logits, size_t count) {
  std::vector<TokenLogit> all;
  all.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) all.push_back({static_cast<Token>(i), logits[i]});
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(count), all.end(),
                    &MoreLikely);
  all.resize(count);
  return all;
}

}  // namespace superfluid
