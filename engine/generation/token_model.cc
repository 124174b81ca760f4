#include "engine/generation/token_model.h"

#include "engine/generation/strategy_book.h"
#include "engine/monotonic_time.h"

namespace superfluid {

uint64_t TokenModel::ExportBytes(const SessionSequence& /*sequence*/, SpaceId /*space*/,
                                 TokenRange /*range*/, uint32_t /*encoding*/) const {
  return 0;
}

absl::StatusOr<std::unique_ptr<StateMover>> TokenModel::StartExport(SessionSequence& /*sequence*/,
                                                                    const StateExport& /*what*/,
                                                                    absl::Span<std::byte> /*out*/) {
  return absl::UnimplementedError("no state can be exported");
}

absl::StatusOr<std::unique_ptr<StateMover>> TokenModel::StartImport(
    SessionSequence& /*sequence*/, const StateImport& /*what*/,
    absl::Span<const std::byte> /*bytes*/) {
  return absl::UnimplementedError("no state can be imported");
}

absl::StatusOr<std::unique_ptr<Drafter>> TokenModel::MakeDrafter(const StrategyId& id) {
  return NoSuchStrategy(id.name, "none");
}

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
