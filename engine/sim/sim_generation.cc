#include "engine/sim/sim_generation.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sim/sim_stage.h"
#include "engine/sim/sim_state_job.h"
#include "engine/sim/sim_tick.h"

namespace superfluid {
namespace {

constexpr uint32_t kBestDeterminism = 1;

SimPass PassOf(const SimWorld& world) {
  return {world.options.vocab, world.options.context, world.adapter.current().fingerprint};
}

absl::Span<const Token> WholeBlocks(absl::Span<const Token> tokens) {
  return tokens.first(tokens.size() - tokens.size() % kSimBlockTokens);
}

}  // namespace

std::vector<StateSpace> SimGeneration::StateSpaces() const {
  return SimStateSpaces(world_.options.vocab);
}

std::vector<BuiltInStrategy> SimGeneration::Strategies() const { return SimStrategies::BuiltIns(); }

absl::StatusOr<std::vector<LaneResult>> SimGeneration::RunTick(const Tick& tick,
                                                               const CancelToken& token,
                                                               TickHost& host) {
  return RunSimTick(world_, tick, token, host);
}

absl::StatusOr<SequenceHandle> SimGeneration::CreateSequence() {
  return world_.sequences.Create(world_.adapter.current());
}

absl::Status SimGeneration::FreeSequence(SequenceHandle sequence) {
  return world_.sequences.Free(sequence);
}

absl::StatusOr<SequenceHandle> SimGeneration::Fork(SequenceHandle parent, uint32_t flags) {
  if (flags != 0) return absl::InvalidArgumentError("no flags of fork are defined");
  return world_.sequences.Fork(parent);
}

absl::Status SimGeneration::Trim(SequenceHandle sequence, SpaceId space, uint64_t new_len) {
  const absl::StatusOr<SimSequence*> found = FindSimState(world_, sequence, space);
  return found.ok() ? (*found)->Trim(space, new_len) : found.status();
}

absl::StatusOr<SequenceHandle> SimGeneration::LaneSequence(LaneTag tag) {
  return world_.sequences.LaneSequence(tag);
}

absl::StatusOr<uint64_t> SimGeneration::SnapshotBoundary(SequenceHandle sequence, SpaceId space,
                                                         uint64_t cap) {
  const absl::StatusOr<SimSequence*> found = FindSimState(world_, sequence, space);
  if (!found.ok()) return found.status();
  return (*found)->Boundary(space, cap);
}

absl::StatusOr<ExportSize> SimGeneration::SizeOfExport(SequenceHandle sequence, SpaceId space,
                                                       TokenRange range, uint32_t encoding) {
  return SizeOfSimExport(world_, sequence, space, range, encoding);
}

absl::StatusOr<Digest> SimGeneration::Provenance(SequenceHandle sequence, SpaceId space,
                                                 TokenRange range) {
  const absl::StatusOr<SimSequence*> found = FindSimState(world_, sequence, space);
  if (!found.ok()) return found.status();
  if (absl::Status status = (*found)->CheckRange(space, range); !status.ok()) return status;
  return (*found)->Provenance(space, range);
}

absl::StatusOr<std::unique_ptr<StateJob>> SimGeneration::StartExport(const StateExport& what,
                                                                     absl::Span<std::byte> out) {
  return StartSimExport(world_, what, out);
}

absl::StatusOr<std::unique_ptr<StateJob>> SimGeneration::StartImport(
    const StateImport& what, absl::Span<const std::byte> bytes) {
  return StartSimImport(world_, what, bytes);
}

absl::StatusOr<std::vector<SpaceMatch>> SimGeneration::Match(
    absl::Span<const Token> tokens, absl::Span<const uint64_t> media_deps) {
  ExpireLeases();
  const CacheNode node =
      world_.cache.FindByDeps(tokens, media_deps, world_.adapter.current().fingerprint);
  const uint64_t matched = world_.cache.EndOf(node);
  return std::vector<SpaceMatch>{{kSimKvSpace, matched}, {kSimRecurrentSpace, matched}};
}

absl::StatusOr<Lease> SimGeneration::AcquireSeed(absl::Span<const Token> tokens,
                                                 uint64_t prefix_len, uint32_t determinism_class,
                                                 absl::Span<const uint64_t> media_deps) {
  ExpireLeases();
  if (prefix_len == 0 || prefix_len > tokens.size()) {
    return absl::InvalidArgumentError("the prefix is empty or longer than the tokens");
  }
  if (determinism_class > kBestDeterminism) {
    return absl::NotFoundError(
        absl::StrCat("nothing is cached of determinism class ", determinism_class));
  }
  const CacheNode node = world_.cache.FindByDeps(tokens.first(prefix_len), media_deps,
                                                 world_.adapter.current().fingerprint);
  const uint64_t cached = world_.cache.EndOf(node);
  if (cached != prefix_len) {
    return absl::NotFoundError(absl::StrCat("cached are ", cached, " tokens of these"));
  }
  return world_.leases.Acquire(node, world_.Now());
}

absl::Status SimGeneration::ReleaseSeed(SeedHandle seed) {
  ExpireLeases();
  return world_.leases.Release(seed);
}

absl::StatusOr<CacheNode> SimGeneration::Publish(SequenceHandle sequence,
                                                 absl::Span<const Token> tokens,
                                                 const CallControl& control) {
  ExpireLeases();
  const absl::StatusOr<SimSequence*> found = world_.sequences.Find(sequence);
  if (!found.ok()) return found.status();
  const SimSequence& published = **found;
  if (tokens.size() > published.length() || tokens != published.tokens().first(tokens.size())) {
    return absl::InvalidArgumentError("the tokens are not the sequence's first ones");
  }
  const absl::Span<const Token> whole = WholeBlocks(tokens);
  if (whole.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a block has ", kSimBlockTokens, " tokens"));
  }
  const auto blocks = published.WholeBlocks(whole.size() / kSimBlockTokens);
  if (!blocks.ok()) return blocks.status();
  if (absl::Status status = world_.Compute(control); !status.ok()) return status;
  std::vector<CachedBlockRef> entries;
  entries.reserve(blocks->size());
  for (const SimCachedBlock& block : *blocks) {
    entries.push_back(std::make_shared<SimCacheEntry>(block));
  }
  return world_.cache.Insert({whole, &published.media(), published.adapter().fingerprint}, entries);
}

absl::Status SimGeneration::PublishSequence(SequenceHandle sequence, absl::Span<const Token> tokens,
                                            const CallControl& control) {
  return Publish(sequence, tokens, control).status();
}

absl::StatusOr<SeedHandle> SimGeneration::AdoptSequence(SequenceHandle sequence,
                                                        absl::Span<const Token> tokens,
                                                        const CallControl& control) {
  const absl::StatusOr<CacheNode> node = Publish(sequence, tokens, control);
  if (!node.ok()) return node.status();
  const absl::StatusOr<Lease> lease = world_.leases.Acquire(*node, world_.Now());
  if (!lease.ok()) return lease.status();
  return lease->seed;
}

absl::Status SimGeneration::Unpublish(absl::Span<const Token> tokens) {
  ExpireLeases();
  const absl::Span<const Token> whole = WholeBlocks(tokens);
  const std::vector<CacheNode> nodes =
      whole.empty() ? std::vector<CacheNode>() : world_.cache.FindAll(whole);
  if (nodes.empty()) return absl::NotFoundError("these tokens are not cached");
  for (const CacheNode node : nodes) world_.cache.Forget(node);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SimGeneration::EvictCache(uint64_t target, const EvictPolicy& policy) {
  ExpireLeases();
  return world_.cache.Evict(target, policy);
}

absl::Status SimGeneration::EvictEntries(absl::Span<const CacheKey> keys) {
  ExpireLeases();
  std::set<Digest> provenances;
  for (const CacheKey& key : keys) {
    for (const StateSpace& space : StateSpaces()) {
      if (key.compat_key == space.compat_key) provenances.insert(key.provenance);
    }
  }
  world_.cache.ForgetByProvenance(provenances);
  return absl::OkStatus();
}

absl::StatusOr<GrammarHandle> SimGeneration::CreateGrammar(absl::string_view json_schema,
                                                           const CallControl& control) {
  return world_.grammars.AddSchema(json_schema, control);
}

absl::StatusOr<GrammarHandle> SimGeneration::CreateStructuralGrammar(absl::string_view tag_json,
                                                                     const CallControl& control) {
  return world_.grammars.AddTags(tag_json, control);
}

absl::Status SimGeneration::FreeGrammar(GrammarHandle grammar) {
  return world_.grammars.Free(grammar);
}

absl::StatusOr<LogitBiasHandle> SimGeneration::CreateLogitBias(absl::Span<const Token> tokens,
                                                               absl::Span<const float> values) {
  return world_.biases.Add(tokens, values);
}

absl::Status SimGeneration::FreeLogitBias(LogitBiasHandle bias) { return world_.biases.Free(bias); }

absl::StatusOr<std::vector<float>> SimGeneration::Embed(absl::Span<const Token> tokens,
                                                        const CallControl& control) {
  const SimPass pass = PassOf(world_);
  if (absl::Status status = pass.CheckTokens(tokens); !status.ok()) return status;
  if (absl::Status status = world_.Compute(control); !status.ok()) return status;
  return pass.Embed(tokens);
}

absl::StatusOr<StageOutput> SimGeneration::ForwardStage(const StageWork& work,
                                                        const CallControl& control) {
  if (absl::Status status = world_.Compute(control); !status.ok()) return status;
  return PassOf(world_).Forward(work);
}

absl::StatusOr<AdapterId> SimGeneration::LoadAdapter(const std::string& path,
                                                     const CallControl& control) {
  if (absl::Status status = world_.Compute(control); !status.ok()) return status;
  return world_.adapter.Load(path);
}

absl::Status SimGeneration::UnloadAdapter() {
  world_.adapter.Unload();
  return absl::OkStatus();
}

absl::StatusOr<AdapterId> SimGeneration::CurrentAdapter() { return world_.adapter.current().id; }

absl::StatusOr<MediaInfo> SimGeneration::ProbeMedia(const std::string& path,
                                                    const CallControl& control) {
  if (absl::Status status = world_.Compute(control); !status.ok()) return status;
  return SimMedia::Probe(path);
}

absl::StatusOr<EncodedMedia> SimGeneration::EncodeMedia(const std::string& path,
                                                        const CallControl& control) {
  if (absl::Status status = world_.Compute(control); !status.ok()) return status;
  return world_.media.Encode(path);
}

absl::Status SimGeneration::ReleaseMedia(MediaHandle media) { return world_.media.Release(media); }

absl::Status SimGeneration::BindMedia(LaneTag tag, MediaHandle media, uint64_t token_offset) {
  return world_.media.Bind(tag, media, token_offset);
}

absl::StatusOr<StrategyTerms> SimGeneration::RegisterStrategy(const StrategySpec& strategy) {
  return world_.strategies.Register(strategy);
}

void SimGeneration::EndSession() {
  world_.leases.Clear();
  world_.sequences.Clear();
  world_.grammars.Clear();
  world_.biases.Clear();
  world_.media.Clear();
  world_.strategies.Clear();
}

void SimGeneration::Reset() {
  world_.leases.Clear();
  world_.cache.Clear();
  world_.adapter.Unload();
}

MemoryCounters SimGeneration::Memory() {
  ExpireLeases();
  const SimBlockPool& pool = world_.pool;
  MemoryCounters counters;
  counters.allocated_bytes = pool.live() * kSimBlockBytes + world_.adapter.bytes();
  counters.pool_blocks_total = pool.limit();
  counters.pool_blocks_used = pool.live() - pool.tentative();
  counters.pool_bytes_evictable = world_.cache.EvictableBytes();
  counters.tentative_bytes = pool.tentative() * kSimBlockBytes;
  return counters;
}

bool SimGeneration::CheckInvariants() const {
  std::set<const SimBlock*> blocks;
  for (const CachedBlock* entry : world_.cache.Blocks()) {
    blocks.insert(static_cast<const SimCacheEntry*>(entry)->cached.block.get());
  }
  for (const auto& [handle, sequence] : world_.sequences.all()) {
    if (!sequence->CheckInvariants()) return false;
    for (const SimBlockRef& block : sequence->blocks()) blocks.insert(block.get());
  }
  blocks.erase(nullptr);
  const SimBlockPool& pool = world_.pool;
  return world_.cache.CheckInvariants() && pool.live() <= pool.limit() &&
         blocks.size() == pool.live() - pool.tentative();
}

std::vector<std::string> SimCalls() {
  return {"transcribe",
          "tick",
          "match",
          "seed",
          "state_ops",
          "strategy",
          "fork",
          "trim",
          "export_size",
          "cache_evict",
          "cache_evict_entries",
          "snapshot_boundary",
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
          "forward_stage",
          "media_probe",
          "media_encode",
          "media_release",
          "media_bind",
          "adopt_sequence",
          "publish_sequence",
          "unpublish"};
}

}  // namespace superfluid
