#include "engine/sampling/logit_biases.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status None(LogitBiasHandle handle) {
  return absl::NotFoundError(absl::StrCat("no logit bias ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::StatusOr<LogitBiasHandle> LogitBiases::Add(absl::Span<const Token> tokens,
                                                 absl::Span<const float> values) {
  if (biases_.size() >= kMaxLogitBiases) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", kMaxLogitBiases, " biases"));
  }
  if (tokens.size() != values.size()) {
    return absl::InvalidArgumentError("a bias has as many values as tokens");
  }
  LogitBias bias;
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

absl::Status LogitBiases::Free(LogitBiasHandle handle) {
  return biases_.erase(handle) == 1 ? absl::OkStatus() : None(handle);
}

absl::StatusOr<const LogitBias*> LogitBiases::Find(LogitBiasHandle handle) const {
  if (handle == LogitBiasHandle{}) return nullptr;
  const auto found = biases_.find(handle);
  if (found == biases_.end()) return None(handle);
  return &found->second;
}

}  // namespace superfluid
