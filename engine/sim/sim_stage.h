#ifndef SUPERFLUID_ENGINE_SIM_SIM_STAGE_H_
#define SUPERFLUID_ENGINE_SIM_SIM_STAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/generation.h"

namespace superfluid {

inline constexpr uint32_t kSimLayers = 8;
inline constexpr size_t kSimEmbeddingSize = 64;
inline constexpr size_t kSimHiddenBytes = 64;  // of one token

// The model without sequences: one pass over a few tokens. `adapter`: its fingerprint.
struct SimPass {
  uint32_t vocab = 0;
  uint64_t context = 0;
  uint64_t adapter = 0;

  // kSimEmbeddingSize floats of length 1. InvalidArgument: no tokens, more than the context has
  // room for, or one outside the vocabulary.
  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens) const;

  // Layers of kSimLayers: the hidden state is kSimHiddenBytes per token; of the last layer comes a
  // token. However the layers are split, the token is the same. InvalidArgument: as above, no such
  // layers, or a hidden state that is missing, not expected or not of the right size.
  absl::StatusOr<StageOutput> Forward(const StageWork& work) const;

  absl::Status CheckTokens(absl::Span<const Token> tokens) const;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_STAGE_H_
