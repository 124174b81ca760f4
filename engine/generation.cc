#include "engine/generation.h"

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status Lacks(absl::string_view call) {
  return absl::UnimplementedError(absl::StrCat("the engine does not support ", call));
}

}  // namespace

absl::StatusOr<std::vector<LaneResult>> Generation::RunTick(const Tick& /*tick*/,
                                                            const CancelToken& /*token*/,
                                                            TickHost& /*host*/) {
  return Lacks("ticks");
}
absl::StatusOr<SequenceHandle> Generation::CreateSequence() { return Lacks("create_sequence"); }
absl::Status Generation::FreeSequence(SequenceHandle /*sequence*/) {
  return Lacks("free_sequence");
}
absl::StatusOr<SequenceHandle> Generation::Fork(SequenceHandle /*parent*/, uint32_t /*flags*/) {
  return Lacks("fork");
}
absl::Status Generation::Trim(SequenceHandle /*sequence*/, SpaceId /*space*/,
                              uint64_t /*new_len*/) {
  return Lacks("trim");
}
absl::StatusOr<SequenceHandle> Generation::LaneSequence(LaneTag /*tag*/) {
  return Lacks("lane_sequence");
}
absl::StatusOr<uint64_t> Generation::SnapshotBoundary(SequenceHandle /*sequence*/,
                                                      SpaceId /*space*/, uint64_t /*cap*/) {
  return Lacks("snapshot_boundary");
}
absl::StatusOr<ExportSize> Generation::SizeOfExport(SequenceHandle /*sequence*/, SpaceId /*space*/,
                                                    TokenRange /*range*/, uint32_t /*encoding*/) {
  return Lacks("export_size");
}
absl::StatusOr<Digest> Generation::Provenance(SequenceHandle /*sequence*/, SpaceId /*space*/,
                                              TokenRange /*range*/) {
  return Lacks("state ops");
}
absl::StatusOr<std::unique_ptr<StateJob>> Generation::StartExport(const StateExport& /*what*/,
                                                                  absl::Span<std::byte> /*out*/) {
  return Lacks("state ops");
}
absl::StatusOr<std::unique_ptr<StateJob>> Generation::StartImport(
    const StateImport& /*what*/, absl::Span<const std::byte> /*bytes*/) {
  return Lacks("state ops");
}
absl::StatusOr<std::vector<SpaceMatch>> Generation::Match(
    absl::Span<const Token> /*tokens*/, absl::Span<const uint64_t> /*media_deps*/) {
  return Lacks("match");
}
absl::StatusOr<Lease> Generation::AcquireSeed(absl::Span<const Token> /*tokens*/,
                                              uint64_t /*prefix_len*/,
                                              uint32_t /*determinism_class*/,
                                              absl::Span<const uint64_t> /*media_deps*/) {
  return Lacks("seeds");
}
absl::Status Generation::ReleaseSeed(SeedHandle /*seed*/) { return Lacks("seeds"); }
absl::Status Generation::PublishSequence(SequenceHandle /*sequence*/,
                                         absl::Span<const Token> /*tokens*/,
                                         const CallControl& /*control*/) {
  return Lacks("publish_sequence");
}
absl::StatusOr<SeedHandle> Generation::AdoptSequence(SequenceHandle /*sequence*/,
                                                     absl::Span<const Token> /*tokens*/,
                                                     const CallControl& /*control*/) {
  return Lacks("adopt_sequence");
}
absl::Status Generation::Unpublish(absl::Span<const Token> /*tokens*/) {
  return Lacks("unpublish");
}
absl::StatusOr<uint64_t> Generation::EvictCache(uint64_t /*target*/,
                                                const EvictPolicy& /*policy*/) {
  return Lacks("cache_evict");
}
absl::Status Generation::EvictEntries(absl::Span<const CacheKey> /*keys*/) {
  return Lacks("cache_evict_entries");
}
absl::StatusOr<GrammarHandle> Generation::CreateGrammar(absl::string_view /*json_schema*/,
                                                        const CallControl& /*control*/) {
  return Lacks("create_grammar");
}
absl::StatusOr<GrammarHandle> Generation::CreateStructuralGrammar(absl::string_view /*tag_json*/,
                                                                  const CallControl& /*control*/) {
  return Lacks("create_grammar_structural");
}
absl::Status Generation::FreeGrammar(GrammarHandle /*grammar*/) { return Lacks("free_grammar"); }
absl::StatusOr<LogitBiasHandle> Generation::CreateLogitBias(absl::Span<const Token> /*tokens*/,
                                                            absl::Span<const float> /*values*/) {
  return Lacks("create_logit_bias");
}
absl::Status Generation::FreeLogitBias(LogitBiasHandle /*bias*/) {
  return Lacks("free_logit_bias");
}
absl::StatusOr<std::vector<float>> Generation::Embed(absl::Span<const Token> /*tokens*/,
                                                     const CallControl& /*control*/) {
  return Lacks("embed");
}
absl::StatusOr<StageOutput> Generation::ForwardStage(const StageWork& /*work*/,
                                                     const CallControl& /*control*/) {
  return Lacks("forward_stage");
}
absl::StatusOr<AdapterId> Generation::LoadAdapter(const std::string& /*path*/,
                                                  const CallControl& /*control*/) {
  return Lacks("lora_load");
}
absl::Status Generation::UnloadAdapter() { return Lacks("lora_unload"); }
absl::StatusOr<AdapterId> Generation::CurrentAdapter() { return Lacks("lora_id"); }
absl::StatusOr<MediaInfo> Generation::ProbeMedia(const std::string& /*path*/,
                                                 const CallControl& /*control*/) {
  return Lacks("media_probe");
}
absl::StatusOr<EncodedMedia> Generation::EncodeMedia(const std::string& /*path*/,
                                                     const CallControl& /*control*/) {
  return Lacks("media_encode");
}
absl::Status Generation::ReleaseMedia(MediaHandle /*media*/) { return Lacks("media_release"); }
absl::Status Generation::BindMedia(LaneTag /*tag*/, MediaHandle /*media*/,
                                   uint64_t /*token_offset*/) {
  return Lacks("media_bind");
}
absl::StatusOr<StrategyTerms> Generation::RegisterStrategy(const StrategySpec& /*strategy*/) {
  return Lacks("strategies");
}

}  // namespace superfluid
