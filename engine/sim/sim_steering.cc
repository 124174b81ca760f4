#include "engine/sim/sim_steering.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

template <typename Handle>
absl::Status None(absl::string_view what, Handle handle) {
  return absl::NotFoundError(absl::StrCat("no ", what, " ", static_cast<uint64_t>(handle)));
}

// Null for "none".
template <typename Map, typename Handle>
absl::StatusOr<const typename Map::mapped_type*> Find(const Map& map, Handle handle,
                                                      absl::string_view what) {
  if (handle == Handle{}) return nullptr;
  const auto found = map.find(handle);
  if (found == map.end()) return None(what, handle);
  return &found->second;
}

}  // namespace

absl::StatusOr<GrammarHandle> SimSteering::AddGrammar(SimGrammar grammar) {
  if (grammars_.size() >= kSimMaxGrammars) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kSimMaxGrammars, " grammars"));
  }
  const auto handle = handles_.Next<GrammarHandle>();
  grammars_.emplace(handle, std::move(grammar));
  return handle;
}

absl::Status SimSteering::FreeGrammar(GrammarHandle handle) {
  return grammars_.erase(handle) == 1 ? absl::OkStatus() : None("grammar", handle);
}

absl::StatusOr<const SimGrammar*> SimSteering::Grammar(GrammarHandle handle) const {
  return Find(grammars_, handle, "grammar");
}

absl::StatusOr<LogitBiasHandle> SimSteering::AddBias(absl::Span<const Token> tokens,
                                                     absl::Span<const float> values) {
  if (biases_.size() >= kSimMaxBiases) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kSimMaxBiases, " biases"));
  }
  if (tokens.size() != values.size()) {
    return absl::InvalidArgumentError("a bias has as many values as tokens");
  }
  SimBias bias;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= vocab_) {
      return absl::InvalidArgumentError(absl::StrCat("token ", tokens[i], " does not exist"));
    }
    if (std::isnan(values[i]) || values[i] == std::numeric_limits<float>::infinity()) {
      return absl::InvalidArgumentError("a bias is not a number");
    }
    if (!bias.emplace(tokens[i], values[i]).second) {
      return absl::InvalidArgumentError(absl::StrCat("token ", tokens[i], " comes twice"));
    }
  }
  const auto handle = handles_.Next<LogitBiasHandle>();
  biases_.emplace(handle, std::move(bias));
  return handle;
}

absl::Status SimSteering::FreeBias(LogitBiasHandle handle) {
  return biases_.erase(handle) == 1 ? absl::OkStatus() : None("logit bias", handle);
}

absl::StatusOr<const SimBias*> SimSteering::Bias(LogitBiasHandle handle) const {
  return Find(biases_, handle, "logit bias");
}

void SimSteering::Clear() {
  grammars_.clear();
  biases_.clear();
}

}  // namespace superfluid
