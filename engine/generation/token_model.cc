#include "engine/generation/token_model.h"

#include "engine/monotonic_time.h"

namespace superfluid {

absl::StatusOr<std::vector<float>> TokenModel::Embed(absl::Span<const Token> /*tokens*/,
                                                     const CallControl& /*control*/) {
  return absl::UnimplementedError("the model has no embeddings");
}

absl::StatusOr<StageOutput> TokenModel::ForwardStage(const StageWork& /*work*/,
                                                     const CallControl& /*control*/) {
  return absl::UnimplementedError("the model cannot be spread over workers");
}

absl::StatusOr<uint64_t> TokenModel::LoadAdapter(const std::string& /*path*/,
                                                 const CallControl& /*control*/) {
  return absl::UnimplementedError("the model takes no adapters");
}

absl::Time TokenModel::Now() const { return MonotonicTime(); }

}  // namespace superfluid
