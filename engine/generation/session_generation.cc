#include "engine/generation/session_generation.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/generation/session_tick.h"

namespace superfluid {

SessionGeneration::SessionGeneration(std::unique_ptr<TokenModel> model)
    : model_(std::move(model)), session_(*model_) {}

std::vector<StateSpace> SessionGeneration::StateSpaces() const {
  return model_->CanExport() ? model_->Spaces() : std::vector<StateSpace>();
}

std::vector<BuiltInStrategy> SessionGeneration::Strategies() const {
  return session_.strategies.BuiltIns();
}

absl::StatusOr<std::vector<LaneResult>> SessionGeneration::RunTick(const Tick& tick,
                                                                   const CancelToken& token,
                                                                   TickHost& host) {
  return RunSessionTick(session_, tick, token, host);
}

absl::StatusOr<SequenceHandle> SessionGeneration::CreateSequence() {
  return session_.sequences.Create(session_.adapter);
}

absl::Status SessionGeneration::FreeSequence(SequenceHandle sequence) {
  return session_.sequences.Free(sequence);
}

absl::StatusOr<SequenceHandle> SessionGeneration::Fork(SequenceHandle parent, uint32_t flags) {
  if (flags != 0) return absl::InvalidArgumentError("no flags of fork are defined");
  return session_.sequences.Fork(parent);
}

absl::StatusOr<SequenceHandle> SessionGeneration::LaneSequence(LaneTag tag) {
  return session_.sequences.LaneSequence(tag);
}

absl::StatusOr<GrammarHandle> SessionGeneration::CreateGrammar(absl::string_view json_schema,
                                                               const CallControl& control) {
  return session_.grammars.AddSchema(json_schema, control);
}

absl::StatusOr<GrammarHandle> SessionGeneration::CreateStructuralGrammar(
    absl::string_view tag_json, const CallControl& control) {
  return session_.grammars.AddTags(tag_json, control);
}

absl::Status SessionGeneration::FreeGrammar(GrammarHandle grammar) {
  return session_.grammars.Free(grammar);
}

absl::StatusOr<LogitBiasHandle> SessionGeneration::CreateLogitBias(absl::Span<const Token> tokens,
                                                                   absl::Span<const float> values) {
  return session_.biases.Add(tokens, values);
}

absl::Status SessionGeneration::FreeLogitBias(LogitBiasHandle bias) {
  return session_.biases.Free(bias);
}

absl::StatusOr<std::vector<float>> SessionGeneration::Embed(absl::Span<const Token> tokens,
                                                            const CallControl& control) {
  if (tokens.empty()) return absl::InvalidArgumentError("an embedding of no tokens");
  if (absl::Status status = session_.CheckTokens(tokens); !status.ok()) return status;
  if (tokens.size() > session_.facts.context()) {
    return absl::InvalidArgumentError(
        absl::StrCat("more tokens than the context of ", session_.facts.context()));
  }
  return model_->Embed(tokens, control);
}

absl::StatusOr<StageOutput> SessionGeneration::ForwardStage(const StageWork& work,
                                                            const CallControl& control) {
  return model_->ForwardStage(work, control);
}

absl::StatusOr<AdapterId> SessionGeneration::LoadAdapter(const std::string& path,
                                                         const CallControl& control) {
  const absl::StatusOr<uint64_t> fingerprint = model_->LoadAdapter(path, control);
  if (!fingerprint.ok()) return fingerprint.status();
  session_.adapter = {session_.handles.Next<AdapterId>(), *fingerprint};
  return session_.adapter.id;
}

absl::Status SessionGeneration::UnloadAdapter() {
  model_->UnloadAdapter();
  session_.adapter = {};
  return absl::OkStatus();
}

absl::StatusOr<AdapterId> SessionGeneration::CurrentAdapter() { return session_.adapter.id; }

absl::StatusOr<MediaInfo> SessionGeneration::ProbeMedia(const std::string& path,
                                                        const CallControl& control) {
  return session_.media.Probe(path, control);
}

absl::StatusOr<EncodedMedia> SessionGeneration::EncodeMedia(const std::string& path,
                                                            const CallControl& control) {
  return session_.media.Encode(path, control);
}

absl::Status SessionGeneration::ReleaseMedia(MediaHandle media) {
  return session_.media.Release(media);
}

absl::Status SessionGeneration::BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset) {
  return session_.media.Bind(tag, media, token_offset);
}

absl::StatusOr<StrategyTerms> SessionGeneration::RegisterStrategy(const StrategySpec& strategy) {
  return session_.strategies.Register(strategy);
}

void SessionGeneration::EndSession() {
  session_.leases.Clear();
  session_.sequences.Clear();
  session_.grammars.Clear();
  session_.biases.Clear();
  session_.media.Clear();
  session_.strategies.Clear();
}

void SessionGeneration::Reset() {
  session_.leases.Clear();
  session_.cache.Clear();
  (void)UnloadAdapter();
}

MemoryCounters SessionGeneration::Memory() {
  session_.ExpireLeases();
  MemoryCounters counters = model_->Memory();
  counters.host_retained_bytes += session_.media.bytes();
  counters.pool_bytes_evictable = session_.cache.EvictableBytes();
  return counters;
}

std::vector<std::string> SessionGeneration::Calls() const {
  std::vector<std::string> calls = {"tick",
                                    "match",
                                    "seed",
                                    "fork",
                                    "trim",
                                    "cache_evict",
                                    "cache_evict_entries",
                                    "lane_sequence",
                                    "create_sequence",
                                    "free_sequence",
                                    "create_grammar",
                                    "create_grammar_structural",
                                    "free_grammar",
                                    "create_logit_bias",
                                    "free_logit_bias",
                                    "capabilities",
                                    "adopt_sequence",
                                    "publish_sequence",
                                    "unpublish"};
  const auto add = [&calls](bool served, std::initializer_list<const char*> names) {
    if (served) calls.insert(calls.end(), names.begin(), names.end());
  };
  add(!session_.facts.built_in_strategy.empty(), {"strategy"});
  add(session_.facts.embeddings, {"embed"});
  add(session_.facts.adapters, {"lora_load", "lora_unload", "lora_id"});
  add(session_.facts.stages, {"forward_stage"});
  add(model_->CanExport(), {"state_ops", "export_size", "snapshot_boundary"});
  add(model_->media() != nullptr, {"media_probe", "media_encode", "media_release", "media_bind"});
  return calls;
}

bool SessionGeneration::CheckInvariants() const {
  const SequenceBook::Sequences& sequences = session_.sequences.all();
  return session_.cache.CheckInvariants() &&
         std::all_of(sequences.begin(), sequences.end(),
                     [](const auto& entry) { return entry.second->CheckInvariants(); });
}

}  // namespace superfluid
