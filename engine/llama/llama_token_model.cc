#include "engine/llama/llama_token_model.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/generation/strategy_book.h"
#include "engine/llama/llama_cache.h"
#include "engine/llama/llama_state_movers.h"
#include "engine/llama/llama_tokens.h"
#include "engine/llama/pass_size.h"

namespace superfluid {
namespace {

constexpr uint64_t kWarmUpTokens = 2;
constexpr size_t kMaxLeases = 1024;
constexpr uint32_t kDrafts = 8;
constexpr uint32_t kLookup = 2;

// What a block of the cache gives back: keys and values of its tokens, as the model says it. The
// layout that WarmUp learns is not known yet.
uint64_t BytesPerToken(const LlamaModel& model, LlamaKvType type) {
  const auto layers = static_cast<uint64_t>(llama_model_n_layer(model.model()));
  const auto heads = static_cast<uint64_t>(llama_model_n_head(model.model()));
  const auto kv_heads = static_cast<uint64_t>(llama_model_n_head_kv(model.model()));
  const auto width = static_cast<uint64_t>(llama_model_n_embd(model.model()));
  const uint64_t numbers = 2 * layers * width * kv_heads / (heads == 0 ? 1 : heads);
  switch (type) {
    case LlamaKvType::kF32:
      return numbers * 4;
    case LlamaKvType::kQ8:
      return numbers * 34 / 32;
    default:
      return numbers * 2;
  }
}

TokenModel::Facts FactsOf(const LlamaOptions& options, const LlamaModel& model) {
  TokenModel::Facts facts;
  facts.offer = {.engine = "llama",
                 .architecture = model.facts().architecture,
                 .context_tokens = model.context_tokens(),
                 .vocab_size = model.vocab_size()};
  facts.max_sequences = options.max_sequences;
  facts.leases = {options.ttl_ms, options.ttl_ticks, kMaxLeases};
  facts.block_bytes = kCacheBlockTokens * BytesPerToken(model, options.kv_type);
  facts.best_determinism = options.exact ? 1 : 0;
  facts.embeddings = true;
  facts.adapters = true;
  facts.built_in_strategy = kLlamaPromptLookup;
  facts.without_media = "the engine was started without the option mmproj";
  return facts;
}

LlamaSequence& Of(SessionSequence& sequence) { return static_cast<LlamaSequence&>(sequence); }

}  // namespace

LlamaTokenModel::LlamaTokenModel(const LlamaOptions& options, std::unique_ptr<LlamaModel> loaded,
                                 std::unique_ptr<MediaEncoder> media)
    : model(std::move(loaded)),
      cells(model->kv_tokens()),
      kv(llama_get_memory(model->context()), cells, kLlamaSequenceIds),
      facts_(FactsOf(options, *model)),
      decoder_(*model, kv, options.exact, absl::Milliseconds(options.pass_ms)),
      adapter_(*model, options.lora_scale),
      encoder_(std::move(media)) {}

absl::Status LlamaTokenModel::WarmUp() {
  LlamaSequence sequence(kv, {});
  if (absl::Status status = AddBlank(sequence, kWarmUpTokens); !status.ok()) return status;
  const absl::StatusOr<int32_t> id = sequence.Id();
  if (!id.ok()) return id.status();
  std::vector<std::byte> state(llama_state_seq_get_size(model->context(), *id));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library's bytes are uint8_t
  auto* bytes = reinterpret_cast<uint8_t*>(state.data());
  if (llama_state_seq_get_data(model->context(), bytes, state.size(), *id) == state.size()) {
    layout.Learn(state, kWarmUpTokens);
  }
  if (layout.known()) facts_.block_bytes = kCacheBlockTokens * layout.kv_bytes_per_token();
  const uint64_t room = std::min<uint64_t>(model->context_tokens(), cells.total()) - kWarmUpTokens;
  absl::Status status = AddBlank(sequence, std::min<uint64_t>(PassSize::kLeast, room));
  warm_pass_time_ = decoder_.pass_time();
  return status;
}

absl::Status LlamaTokenModel::AddBlank(LlamaSequence& sequence, uint64_t count) {
  const llama_token first = llama_vocab_bos(model->vocab());
  const std::vector<Token> tokens(count, first < 0 ? 0 : static_cast<Token>(first));
  if (absl::Status status = sequence.Append(tokens, /*drawn=*/false); !status.ok()) return status;
  const CallControl unattended;
  absl::StatusOr<bool> done = false;
  while (done.ok() && !*done) done = decoder_.ComputeSome(sequence, sequence.length(), unattended);
  return done.status();
}

TokenTexts LlamaTokenModel::Texts() const { return ReadTokenTexts(model->vocab()); }

std::unique_ptr<SessionSequence> LlamaTokenModel::NewSequence(AdapterRef adapter) {
  return std::make_unique<LlamaSequence>(kv, adapter);
}

absl::Status LlamaTokenModel::Decode(absl::Span<PassShare> shares, const CallControl& control) {
  return decoder_.Run(shares, control);
}

absl::Span<float> LlamaTokenModel::Logits(const PassShare& share, size_t i) {
  const absl::Span<float> logits = decoder_.Logits(share, i);
  if (!logits.empty() && std::isnan(logits[0])) cells_spoilt_ = true;
  return logits;
}

absl::StatusOr<bool> LlamaTokenModel::Compute(SessionSequence& sequence, uint64_t end,
                                              const CallControl& control) {
  if (absl::Status status = control.GoOn(); !status.ok()) return status;
  return decoder_.ComputeSome(Of(sequence), end, control);
}

absl::Status LlamaTokenModel::BeginTick(uint64_t /*number*/) {
  ClearSpoiltCells();
  return absl::OkStatus();
}

void LlamaTokenModel::ClearSpoiltCells() {
  if (!cells_spoilt_ || cells.used() > 0) return;
  llama_memory_clear(llama_get_memory(model->context()), /*data=*/true);
  cells_spoilt_ = false;
}

absl::StatusOr<std::vector<CachedBlockRef>> LlamaTokenModel::CacheBlocks(SessionSequence& sequence,
                                                                         uint64_t end,
                                                                         const KnownBlocks& known) {
  const absl::StatusOr<int32_t> id = Of(sequence).Id();
  if (!id.ok()) return id.status();
  return MakeCachedBlocks(kv, *id, Of(sequence).cells().cells().first(end), known);
}

void LlamaTokenModel::UseCache(PrefixCache& cache) {
  cells.set_reclaim([&cache] { return cache.EvictOne(); });
  kv.set_reclaim([&cache] { return cache.EvictOneInUse(); });
}

std::vector<StateSpace> LlamaTokenModel::Spaces() const { return {LlamaStateSpace(*this)}; }

uint64_t LlamaTokenModel::ExportBytes(const SessionSequence& sequence, SpaceId /*space*/,
                                      TokenRange range, uint32_t /*encoding*/) const {
  return LlamaStateBytes(*this, sequence, range);
}

absl::StatusOr<std::unique_ptr<StateMover>> LlamaTokenModel::StartExport(
    SessionSequence& sequence, const StateExport& what, absl::Span<std::byte> out) {
  return StartLlamaExport(*this, Of(sequence), what, out);
}

absl::StatusOr<std::unique_ptr<StateMover>> LlamaTokenModel::StartImport(
    SessionSequence& sequence, const StateImport& what, absl::Span<const std::byte> bytes) {
  return StartLlamaImport(*this, Of(sequence), what, bytes);
}

absl::StatusOr<std::vector<float>> LlamaTokenModel::Embed(absl::Span<const Token> tokens,
                                                          const CallControl& control) {
  return decoder_.Embed(tokens, control);
}

absl::StatusOr<uint64_t> LlamaTokenModel::LoadAdapter(const std::string& path,
                                                      const CallControl& control) {
  return adapter_.Load(path, control);
}

absl::StatusOr<std::unique_ptr<Drafter>> LlamaTokenModel::MakeDrafter(const StrategyId& id) {
  if (id.name == kLlamaPromptLookup) return MakePromptLookup(id, kLookup, kDrafts);
  return NoSuchStrategy(id.name, kLlamaPromptLookup);
}

MemoryCounters LlamaTokenModel::Memory() const {
  const uint64_t token_bytes = layout.kv_bytes_per_token();
  // Cells of an import that has not taken effect are tentative, not used.
  const uint64_t filled = tentative_tokens - cells.reserved();
  const uint64_t used = cells.used() - filled;
  MemoryCounters counters;
  counters.allocated_bytes = model->weight_bytes() + adapter_.bytes() + cells.total() * token_bytes;
  if (encoder_ != nullptr) counters.allocated_bytes += encoder_->weight_bytes();
  counters.pool_blocks_total = cells.total() / kCacheBlockTokens;
  counters.pool_blocks_used = (used + kCacheBlockTokens - 1) / kCacheBlockTokens;
  counters.tentative_bytes = tentative_tokens * token_bytes;
  return counters;
}

}  // namespace superfluid
