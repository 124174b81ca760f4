#include "engine/llama/llama_generation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/llama/llama_cache.h"
#include "engine/llama/llama_state_job.h"
#include "engine/llama/llama_tick.h"

namespace superfluid {
namespace {

absl::Span<const Token> WholeBlocks(absl::Span<const Token> tokens) {
  return tokens.first(tokens.size() - tokens.size() % kCacheBlockTokens);
}

}  // namespace

std::vector<StateSpace> LlamaGeneration::StateSpaces() const {
  if (!world_->layout.known()) return {};
  return {LlamaStateSpace(*world_)};
}

std::vector<BuiltInStrategy> LlamaGeneration::Strategies() const {
  return LlamaStrategies::BuiltIns();
}

absl::StatusOr<std::vector<LaneResult>> LlamaGeneration::RunTick(const Tick& tick,
                                                                 const CancelToken& token,
                                                                 TickHost& host) {
  return RunLlamaTick(*world_, tick, token, host);
}

absl::StatusOr<SequenceHandle> LlamaGeneration::CreateSequence() {
  return world_->sequences.Create(world_->adapter.current());
}

absl::Status LlamaGeneration::FreeSequence(SequenceHandle sequence) {
  return world_->sequences.Free(sequence);
}

absl::StatusOr<SequenceHandle> LlamaGeneration::Fork(SequenceHandle parent, uint32_t flags) {
  if (flags != 0) return absl::InvalidArgumentError("no flags of fork are defined");
  return world_->sequences.Fork(parent);
}

absl::Status LlamaGeneration::Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len) {
  if (space != kLlamaKvSpace) return absl::InvalidArgumentError("no such state space");
  const absl::StatusOr<LlamaSequence*> found = world_->sequences.Find(sequence);
  if (!found.ok()) return found.status();
  const uint64_t length = (*found)->length();
  if (new_len == length) return absl::OkStatus();
  if (new_len < length) return (*found)->Trim(new_len);
  return absl::InvalidArgumentError(
      absl::StrCat("a sequence of ", length, " tokens cannot be cut to ", new_len));
}

absl::StatusOr<SequenceHandle> LlamaGeneration::LaneSequence(LaneTag tag) {
  return world_->sequences.LaneSequence(tag);
}

absl::StatusOr<uint64_t> LlamaGeneration::SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                                           uint64_t cap) {
  const absl::StatusOr<LlamaSequence*> found = FindLlamaState(*world_, sequence, space);
  if (!found.ok()) return found.status();
  uint64_t boundary = std::min(cap, (*found)->length());
  // What is not computed cannot be any more.
  if (!world_->CheckAdapter(**found).ok()) boundary = std::min(boundary, (*found)->computed());
  while ((*found)->media().Splits(boundary)) --boundary;
  if (!(*found)->IsMissing({0, boundary})) return boundary;
  return absl::FailedPreconditionError("part of the range is not on the device");
}

absl::StatusOr<ExportSize> LlamaGeneration::SizeOfExport(SequenceHandle sequence, SpaceId space,
                                                         TokenRange range, uint32_t encoding) {
  return SizeOfLlamaExport(*world_, sequence, space, range, encoding);
}

absl::StatusOr<Digest> LlamaGeneration::Provenance(SequenceHandle sequence, SpaceId space,
                                                   TokenRange range) {
  return LlamaProvenance(*world_, sequence, space, range);
}

absl::StatusOr<std::unique_ptr<StateJob>> LlamaGeneration::StartExport(const StateExport& what,
                                                                       absl::Span<std::byte> out) {
  return StartLlamaExport(*world_, what, out);
}

absl::StatusOr<std::unique_ptr<StateJob>> LlamaGeneration::StartImport(
    const StateImport& what, absl::Span<const std::byte> bytes) {
  return StartLlamaImport(*world_, what, bytes);
}

absl::StatusOr<std::vector<SpaceMatch>> LlamaGeneration::Match(
    absl::Span<const Token> tokens, absl::Span<const uint64_t> media_deps) {
  world_->ExpireLeases();
  const CacheNode node =
      world_->cache.FindByDeps(tokens, media_deps, world_->adapter.current().fingerprint);
  return std::vector<SpaceMatch>{{kLlamaKvSpace, world_->cache.EndOf(node)}};
}

absl::StatusOr<Lease> LlamaGeneration::AcquireSeed(absl::Span<const Token> tokens,
                                                   uint64_t prefix_len, uint32_t determinism_class,
                                                   absl::Span<const uint64_t> media_deps) {
  world_->ExpireLeases();
  if (prefix_len == 0 || prefix_len > tokens.size()) {
    return absl::InvalidArgumentError("the prefix is empty or longer than the tokens");
  }
  if (determinism_class > (world_->options.exact ? 1U : 0U)) {
    return absl::NotFoundError(
        absl::StrCat("nothing is cached of determinism class ", determinism_class));
  }
  const CacheNode node = world_->cache.FindByDeps(tokens.first(prefix_len), media_deps,
                                                  world_->adapter.current().fingerprint);
  const uint64_t cached = world_->cache.EndOf(node);
  if (cached != prefix_len) {
    return absl::NotFoundError(absl::StrCat("cached are ", cached, " tokens of these"));
  }
  return world_->leases.Acquire(node, world_->Now());
}

absl::Status LlamaGeneration::ReleaseSeed(SeedHandle seed) {
  world_->ExpireLeases();
  return world_->leases.Release(seed);
}

absl::StatusOr<CacheNode> LlamaGeneration::Publish(SequenceHandle sequence,
                                                   absl::Span<const Token> tokens,
                                                   const CallControl& control) {
  world_->ExpireLeases();
  const absl::StatusOr<LlamaSequence*> found = world_->sequences.Find(sequence);
  if (!found.ok()) return found.status();
  LlamaSequence& published = **found;
  if (tokens.size() > published.length() || tokens != published.tokens().first(tokens.size())) {
    return absl::InvalidArgumentError("the tokens are not the sequence's first ones");
  }
  const uint64_t whole = WholeBlocks(tokens).size();
  if (whole == 0) {
    return absl::InvalidArgumentError(absl::StrCat("a block has ", kCacheBlockTokens, " tokens"));
  }
  if (published.IsMissing({0, whole})) {
    return absl::FailedPreconditionError("part of the range is not on the device");
  }
  for (absl::StatusOr<bool> done = false; !*done;) {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    done = world_->ComputeSome(published, whole, control);
    if (!done.ok()) return done.status();
  }
  const absl::StatusOr<int32_t> id = published.Id();
  if (!id.ok()) return id.status();
  return PublishBlocks(world_->cache, world_->kv, published, *id, whole);
}

absl::Status LlamaGeneration::PublishSequence(SequenceHandle sequence,
                                              absl::Span<const Token> tokens,
                                              const CallControl& control) {
  return Publish(sequence, tokens, control).status();
}

absl::StatusOr<SeedHandle> LlamaGeneration::AdoptSequence(SequenceHandle sequence,
                                                          absl::Span<const Token> tokens,
                                                          const CallControl& control) {
  const absl::StatusOr<CacheNode> node = Publish(sequence, tokens, control);
  if (!node.ok()) return node.status();
  const absl::StatusOr<Lease> lease = world_->leases.Acquire(*node, world_->Now());
  if (!lease.ok()) return lease.status();
  return lease->seed;
}

absl::Status LlamaGeneration::Unpublish(absl::Span<const Token> tokens) {
  world_->ExpireLeases();
  const absl::Span<const Token> whole = WholeBlocks(tokens);
  const std::vector<CacheNode> nodes =
      whole.empty() ? std::vector<CacheNode>() : world_->cache.FindAll(whole);
  if (nodes.empty()) return absl::NotFoundError("these tokens are not cached");
  for (const CacheNode node : nodes) world_->cache.Forget(node);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> LlamaGeneration::EvictCache(uint64_t target, const EvictPolicy& policy) {
  world_->ExpireLeases();
  return world_->cache.Evict(target, policy);
}

absl::Status LlamaGeneration::EvictEntries(absl::Span<const CacheKey> keys) {
  world_->ExpireLeases();
  std::set<Digest> provenances;
  for (const CacheKey& key : keys) {
    for (const StateSpace& space : StateSpaces()) {
      if (key.compat_key == space.compat_key) provenances.insert(key.provenance);
    }
  }
  world_->cache.ForgetByProvenance(provenances);
  return absl::OkStatus();
}

absl::StatusOr<GrammarHandle> LlamaGeneration::CreateGrammar(absl::string_view json_schema,
                                                             const CallControl& control) {
  return world_->grammars.AddSchema(json_schema, control);
}

absl::StatusOr<GrammarHandle> LlamaGeneration::CreateStructuralGrammar(absl::string_view tag_json,
                                                                       const CallControl& control) {
  return world_->grammars.AddTags(tag_json, control);
}

absl::Status LlamaGeneration::FreeGrammar(GrammarHandle grammar) {
  return world_->grammars.Free(grammar);
}

absl::StatusOr<LogitBiasHandle> LlamaGeneration::CreateLogitBias(absl::Span<const Token> tokens,
                                                                 absl::Span<const float> values) {
  return world_->biases.Add(tokens, values);
}

absl::Status LlamaGeneration::FreeLogitBias(LogitBiasHandle bias) {
  return world_->biases.Free(bias);
}

absl::StatusOr<std::vector<float>> LlamaGeneration::Embed(absl::Span<const Token> tokens,
                                                          const CallControl& control) {
  if (tokens.empty()) return absl::InvalidArgumentError("an embedding of no tokens");
  if (absl::Status status = world_->CheckTokens(tokens); !status.ok()) return status;
  if (tokens.size() > world_->model->context_tokens()) {
    return absl::InvalidArgumentError(
        absl::StrCat("more tokens than the context of ", world_->model->context_tokens()));
  }
  return world_->decoder.Embed(tokens, control);
}

absl::StatusOr<AdapterId> LlamaGeneration::LoadAdapter(const std::string& path,
                                                       const CallControl& control) {
  return world_->adapter.Load(path, control);
}

absl::Status LlamaGeneration::UnloadAdapter() {
  world_->adapter.Unload();
  return absl::OkStatus();
}

absl::StatusOr<AdapterId> LlamaGeneration::CurrentAdapter() { return world_->adapter.current().id; }

absl::StatusOr<MediaInfo> LlamaGeneration::ProbeMedia(const std::string& path,
                                                      const CallControl& control) {
  return world_->media.Probe(path, control);
}

absl::StatusOr<EncodedMedia> LlamaGeneration::EncodeMedia(const std::string& path,
                                                          const CallControl& control) {
  return world_->media.Encode(path, control);
}

absl::Status LlamaGeneration::ReleaseMedia(MediaHandle media) {
  return world_->media.Release(media);
}

absl::Status LlamaGeneration::BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset) {
  return world_->media.Bind(tag, media, token_offset);
}

absl::StatusOr<StrategyTerms> LlamaGeneration::RegisterStrategy(const StrategySpec& strategy) {
  return world_->strategies.Register(strategy);
}

void LlamaGeneration::EndSession() {
  world_->leases.Clear();
  world_->sequences.Clear();
  world_->grammars.Clear();
  world_->biases.Clear();
  world_->media.Clear();
  world_->strategies.Clear();
}

void LlamaGeneration::Reset() {
  world_->cache.Clear();
  world_->adapter.Unload();
}

MemoryCounters LlamaGeneration::Memory() const {
  const uint64_t token_bytes = world_->layout.kv_bytes_per_token();
  // Cells of an import that has not taken effect are tentative, not used.
  const uint64_t filled = world_->tentative_tokens - world_->cells.reserved();
  const uint64_t used = world_->cells.used() - filled;
  MemoryCounters counters;
  counters.host_retained_bytes = world_->media.bytes();
  counters.allocated_bytes =
      world_->model->weight_bytes() + world_->adapter.bytes() + world_->cells.total() * token_bytes;
  if (encoder() != nullptr) counters.allocated_bytes += encoder()->weight_bytes();
  counters.pool_blocks_total = world_->cells.total() / kCacheBlockTokens;
  counters.pool_blocks_used = (used + kCacheBlockTokens - 1) / kCacheBlockTokens;
  counters.pool_bytes_evictable = world_->cache.EvictableBytes();
  counters.tentative_bytes = world_->tentative_tokens * token_bytes;
  return counters;
}

std::vector<std::string> LlamaGeneration::Calls() const {
  std::vector<std::string> calls = {"tick",
                                    "match",
                                    "seed",
                                    "strategy",
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
                                    "embed",
                                    "lora_load",
                                    "lora_unload",
                                    "lora_id",
                                    "capabilities",
                                    "adopt_sequence",
                                    "publish_sequence",
                                    "unpublish"};
  if (world_->layout.known()) {
    calls.insert(calls.end(), {"state_ops", "export_size", "snapshot_boundary"});
  }
  if (encoder() != nullptr) {
    calls.insert(calls.end(), {"media_probe", "media_encode", "media_release", "media_bind"});
  }
  return calls;
}

bool LlamaGeneration::CheckInvariants() const {
  return world_->cache.CheckInvariants() && world_->cells.used() <= world_->cells.total() &&
         world_->sequences.CheckInvariants();
}

}  // namespace superfluid
