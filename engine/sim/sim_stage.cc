#include "engine/sim/sim_stage.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

constexpr uint64_t kEmbedSalt = 0x656D626564U;

using Hidden = std::array<uint64_t, kSimHiddenBytes / sizeof(uint64_t)>;

std::vector<Hidden> FirstHidden(absl::Span<const Token> tokens) {
  std::vector<Hidden> hidden(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (size_t j = 0; j < hidden[i].size(); ++j) hidden[i][j] = Mix(Mix(tokens[i], i), j);
  }
  return hidden;
}

// Every word of a token depends on all words of it and of the tokens before.
void RunLayer(std::vector<Hidden>& hidden, uint32_t layer, uint64_t adapter) {
  uint64_t carry = Mix(layer, adapter);
  for (Hidden& token : hidden) {
    for (uint64_t& word : token) {
      word = Mix(word, carry);
      carry = Mix(carry, word);
    }
  }
}

absl::Status CheckHidden(const StageWork& work) {
  if (work.start_layer >= work.end_layer || work.end_layer > kSimLayers) {
    return absl::InvalidArgumentError(absl::StrCat("no layers ", work.start_layer, " to ",
                                                   work.end_layer, "; there are ", kSimLayers));
  }
  if (work.has_hidden != (work.start_layer > 0)) {
    return absl::InvalidArgumentError("every stage but the first takes a hidden state");
  }
  const size_t expected = work.has_hidden ? work.tokens.size() * kSimHiddenBytes : 0;
  if (work.hidden.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("a hidden state of ", work.hidden.size(), " bytes instead of ", expected));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SimPass::CheckTokens(absl::Span<const Token> tokens) const {
  if (tokens.empty() || tokens.size() > context) {
    return absl::InvalidArgumentError(absl::StrCat("not 1 to ", context, " tokens"));
  }
  for (const Token token : tokens) {
    if (token >= vocab) {
      return absl::InvalidArgumentError(absl::StrCat("token ", token, " does not exist"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> SimPass::Embed(absl::Span<const Token> tokens) const {
  if (absl::Status status = CheckTokens(tokens); !status.ok()) return status;
  uint64_t mixed = Mix(kEmbedSalt, adapter);
  for (const Token token : tokens) mixed = Mix(mixed, token);
  std::vector<double> raw;
  double squares = 0;
  for (size_t i = 0; i < kSimEmbeddingSize; ++i) {
    raw.push_back(static_cast<double>(Mix(mixed, i) >> 40U) / 8388608.0 - 1.0);
    squares += raw.back() * raw.back();
  }
  std::vector<float> embedding;
  embedding.reserve(raw.size());
  for (const double value : raw) {
    embedding.push_back(static_cast<float>(value / std::sqrt(squares)));
  }
  return embedding;
}

absl::StatusOr<StageOutput> SimPass::Forward(const StageWork& work) const {
  if (absl::Status status = CheckTokens(work.tokens); !status.ok()) return status;
  if (absl::Status status = CheckHidden(work); !status.ok()) return status;
  std::vector<Hidden> hidden = FirstHidden(work.tokens);
  if (work.has_hidden) std::memcpy(hidden.data(), work.hidden.data(), work.hidden.size());
  for (uint32_t layer = work.start_layer; layer < work.end_layer; ++layer) {
    RunLayer(hidden, layer, adapter);
  }
  if (work.end_layer == kSimLayers) {
    uint64_t mixed = 0;
    for (const uint64_t word : hidden.back()) mixed = Mix(mixed, word);
    return StageOutput(static_cast<Token>(mixed % vocab));
  }
  std::string bytes(hidden.size() * kSimHiddenBytes, '\0');
  std::memcpy(bytes.data(), hidden.data(), bytes.size());
  return StageOutput(std::move(bytes));
}

}  // namespace superfluid
