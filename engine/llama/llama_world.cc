#include "engine/llama/llama_world.h"

#include <llama.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/llama/llama_tokens.h"
#include "engine/llama/pass_size.h"
#include "engine/monotonic_time.h"

namespace superfluid {
namespace {

constexpr uint64_t kWarmUpTokens = 2;

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

}  // namespace

LlamaWorld::LlamaWorld(const LlamaOptions& given, std::unique_ptr<LlamaModel> loaded,
                       std::unique_ptr<MediaEncoder> encoder)
    : options(given),
      model(std::move(loaded)),
      cells(model->kv_tokens()),
      kv(llama_get_memory(model->context()), cells, kLlamaSequenceIds),
      decoder(*model, kv, options.exact, absl::Milliseconds(options.pass_ms)),
      cache(kCacheBlockTokens * BytesPerToken(*model, options.kv_type)),
      leases(cache, handles, {options.ttl_ms, options.ttl_ticks, kLlamaMaxLeases}),
      sequences(kv, handles, options.max_sequences),
      grammars(handles, [this] { return ReadTokenTexts(model->vocab()); }),
      biases(handles, model->vocab_size()),
      adapter(*model, handles, options.lora_scale),
      strategies(model->facts().architecture, model->vocab_size(), model->context_tokens()),
      media(handles, std::move(encoder), kLlamaMediaBytes) {
  cells.set_reclaim([this] { return cache.EvictOne(); });
  kv.set_reclaim([this] { return cache.EvictOneInUse(); });
}

absl::Status LlamaWorld::WarmUp() {
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
  if (layout.known()) cache.set_block_bytes(kCacheBlockTokens * layout.kv_bytes_per_token());
  const uint64_t room = std::min<uint64_t>(model->context_tokens(), cells.total()) - kWarmUpTokens;
  absl::Status status = AddBlank(sequence, std::min<uint64_t>(PassSize::kLeast, room));
  warm_pass_time = decoder.pass_time();
  return status;
}

absl::Status LlamaWorld::AddBlank(LlamaSequence& sequence, uint64_t count) {
  const llama_token first = llama_vocab_bos(model->vocab());
  sequence.Append(std::vector<Token>(count, first < 0 ? 0 : static_cast<Token>(first)),
                  /*drawn=*/false);
  const CallControl unattended;
  absl::StatusOr<bool> done = false;
  while (done.ok() && !*done) done = decoder.ComputeSome(sequence, sequence.length(), unattended);
  return done.status();
}

absl::Status LlamaWorld::CheckAdapter(const LlamaSequence& sequence) const {
  if (sequence.adapter().id == adapter.current().id) return absl::OkStatus();
  return absl::FailedPreconditionError("the sequence was made under another adapter");
}

absl::StatusOr<bool> LlamaWorld::ComputeSome(LlamaSequence& sequence, uint64_t end,
                                             const CallControl& control) {
  if (sequence.computed() >= end) return true;
  if (absl::Status status = CheckAdapter(sequence); !status.ok()) return status;
  return decoder.ComputeSome(sequence, end, control);
}

void LlamaWorld::ClearSpoiltCells() {
  if (!cells_spoilt || cells.used() > 0) return;
  llama_memory_clear(llama_get_memory(model->context()), /*data=*/true);
  cells_spoilt = false;
}

PrefixLeases::Moment LlamaWorld::Now() const { return {MonotonicTime(), ticks}; }

absl::Status LlamaWorld::CheckTokens(absl::Span<const Token> tokens) const {
  for (const Token token : tokens) {
    if (token < model->vocab_size()) continue;
    return absl::InvalidArgumentError(absl::StrCat("token ", token, " does not exist"));
  }
  return absl::OkStatus();
}

}  // namespace superfluid
