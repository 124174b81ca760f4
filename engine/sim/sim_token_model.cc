#include "engine/sim/sim_token_model.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "engine/sim/sim_drafters.h"
#include "engine/sim/sim_drawing.h"
#include "engine/sim/sim_files.h"
#include "engine/sim/sim_state_movers.h"

namespace superfluid {
namespace {

constexpr size_t kMaxLeases = 1024;
constexpr uint32_t kBestDeterminism = 1;

TokenModel::Facts FactsOf(const SimGenerationOptions& options) {
  TokenModel::Facts facts;
  facts.offer = {.engine = "sim",
                 .architecture = "sim",
                 .context_tokens = options.context,
                 .vocab_size = options.vocab,
                 .kernel_caps = kSimKernelCaps,
                 .tap_layers = kSimLayers};
  facts.max_sequences = static_cast<size_t>(options.max_sequences);
  facts.leases = {options.ttl_ms, options.ttl_ticks, kMaxLeases};
  facts.block_bytes = kSimBlockBytes;
  facts.best_determinism = kBestDeterminism;
  facts.eager = true;
  facts.embeddings = true;
  facts.adapters = true;
  facts.stages = true;
  facts.built_in_strategy = kSimNgram;
  return facts;
}

SimSequence& Of(SessionSequence& sequence) { return static_cast<SimSequence&>(sequence); }

}  // namespace

SimTokenModel::SimTokenModel(const SimOptions& all_options, std::shared_ptr<SimClock> sim_clock)
    : options(all_options.generation),
      clock(std::move(sim_clock)),
      pool(options.pool_blocks),
      slow_(all_options.faults.slow),
      stuck_(all_options.faults.stuck),
      facts_(FactsOf(options)),
      media_([this](const CallControl& control) { return ComputeCall(control); }) {}

TokenTexts SimTokenModel::Texts() const { return SimTokenTexts(); }

bool SimTokenModel::EndsText(Token token) const { return token == kSimEndOfText; }

std::unique_ptr<SessionSequence> SimTokenModel::NewSequence(AdapterRef adapter) {
  return std::make_unique<SimSequence>(pool, adapter);
}

absl::Status SimTokenModel::Decode(absl::Span<PassShare> shares, const CallControl& /*control*/) {
  for (PassShare& share : shares) {
    clock->Spend(options.token);
    share.done = share.tokens.size();
    share.complete = true;
  }
  return absl::OkStatus();
}

// Drafts up to this output were appended, so the sequence's point is the output's.
absl::Span<float> SimTokenModel::Logits(const PassShare& share, size_t /*i*/) {
  const SimSequence& sequence = Of(*share.sequence);
  logits_.resize(options.vocab);
  SimLogits(sequence.point(), sequence.adapter().fingerprint, absl::MakeSpan(logits_));
  return absl::MakeSpan(logits_);
}

absl::StatusOr<bool> SimTokenModel::Compute(SessionSequence& /*sequence*/, uint64_t /*end*/,
                                            const CallControl& control) {
  if (absl::Status status = ComputeCall(control); !status.ok()) return status;
  return true;
}

absl::Status SimTokenModel::BeginTick(uint64_t number) {
  clock->Spend(options.tick);
  const SimGenerationFaults& faults = options.faults;
  return Misbehave({faults.slow_at_tick, faults.stuck_at_tick, faults.throw_at_tick,
                    faults.out_of_memory_at_tick, faults.fail_at_tick},
                   number);
}

absl::StatusOr<std::vector<CachedBlockRef>> SimTokenModel::CacheBlocks(
    SessionSequence& sequence, uint64_t end, const KnownBlocks& /*known*/) {
  const auto blocks = Of(sequence).WholeBlocks(end / kSimBlockTokens);
  if (!blocks.ok()) return blocks.status();
  std::vector<CachedBlockRef> entries;
  entries.reserve(blocks->size());
  for (const SimCachedBlock& block : *blocks) {
    entries.push_back(std::make_shared<SimCacheEntry>(block));
  }
  return entries;
}

void SimTokenModel::UseCache(PrefixCache& cache) {
  pool.set_reclaim([&cache] { return cache.EvictOne(); });
}

std::vector<StateSpace> SimTokenModel::Spaces() const { return SimStateSpaces(options.vocab); }

uint64_t SimTokenModel::ExportBytes(const SessionSequence& /*sequence*/, SpaceId space,
                                    TokenRange range, uint32_t encoding) const {
  return SimStateBytes(space, range, encoding);
}

absl::StatusOr<std::unique_ptr<StateMover>> SimTokenModel::StartExport(SessionSequence& sequence,
                                                                       const StateExport& what,
                                                                       absl::Span<std::byte> out) {
  return StartSimExport(*this, Of(sequence), what, out);
}

absl::StatusOr<std::unique_ptr<StateMover>> SimTokenModel::StartImport(
    SessionSequence& sequence, const StateImport& what, absl::Span<const std::byte> bytes) {
  return StartSimImport(*this, Of(sequence), what, bytes);
}

SimPass SimTokenModel::Pass() const { return {options.vocab, options.context, adapter_}; }

absl::StatusOr<std::vector<float>> SimTokenModel::Embed(absl::Span<const Token> tokens,
                                                        const CallControl& control) {
  if (absl::Status status = ComputeCall(control); !status.ok()) return status;
  return Pass().Embed(tokens);
}

absl::StatusOr<StageOutput> SimTokenModel::ForwardStage(const StageWork& work,
                                                        const CallControl& control) {
  if (absl::Status status = ComputeCall(control); !status.ok()) return status;
  return Pass().Forward(work);
}

absl::StatusOr<uint64_t> SimTokenModel::LoadAdapter(const std::string& path,
                                                    const CallControl& control) {
  if (absl::Status status = ComputeCall(control); !status.ok()) return status;
  const absl::StatusOr<SimFile> file = ReadSimFile(path, kSimMaxAdapterBytes);
  if (!file.ok()) return file.status();
  adapter_ = file->fingerprint;
  adapter_bytes_ = file->bytes;
  return adapter_;
}

void SimTokenModel::UnloadAdapter() {
  adapter_ = 0;
  adapter_bytes_ = 0;
}

absl::StatusOr<std::unique_ptr<Drafter>> SimTokenModel::MakeDrafter(const StrategyId& id) {
  return MakeSimDrafter(id, options.vocab);
}

MemoryCounters SimTokenModel::Memory() const {
  MemoryCounters counters;
  counters.allocated_bytes = pool.live() * kSimBlockBytes + adapter_bytes_;
  counters.pool_blocks_total = pool.limit();
  counters.pool_blocks_used = pool.live() - pool.tentative();
  counters.tentative_bytes = pool.tentative() * kSimBlockBytes;
  return counters;
}

absl::Status SimTokenModel::Misbehave(const Faults& faults, uint64_t number) {
  const auto now = static_cast<SimStep>(number);
  if (now == faults.slow_at) clock->Spend(slow_);
  if (now == faults.stuck_at) clock->Hang(stuck_);
  if (now == faults.throw_at) throw std::runtime_error("a fault that was asked for");
  if (now == faults.out_of_memory_at) throw std::bad_alloc();
  if (now == faults.fail_at) return absl::InternalError("a failure, as asked for");
  return absl::OkStatus();
}

absl::Status SimTokenModel::ComputeCall(const CallControl& control) {
  const auto number = static_cast<SimStep>(++calls_);
  if (number == options.faults.stuck_at_call) clock->Hang(stuck_);
  for (int64_t pass = 0; pass < options.call_passes; ++pass) {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    clock->Spend(options.call_pass);
  }
  return control.GoOn();
}

}  // namespace superfluid
