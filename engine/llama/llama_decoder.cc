#include "engine/llama/llama_decoder.h"

#include <llama.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>

#include "absl/strings/str_cat.h"
#include "engine/llama/heartbeat.h"

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCancelled = 2;
constexpr size_t kLogitBytes = size_t{256} << 20U;
constexpr size_t kMinOutputs = 16;

size_t MaxOutputs(uint32_t vocab, size_t tokens) {
  const size_t fit = kLogitBytes / (sizeof(float) * std::max(vocab, 1U));
  return std::min(tokens, std::max(kMinOutputs, fit));
}

absl::Status NoRoom(uint64_t needed, const KvCells& cells) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no room for the state of ", needed, " more tokens: of ", cells.total(),
                   " there are ", cells.free(), " free (engine option kv_tokens)"));
}

// While it exists the library asks the control's token at each node of its graph. What it has
// computed meanwhile is a sign of life.
class AbortHook {
 public:
  AbortHook(llama_context* context, const CallControl& control)
      : context_(context), control_(control) {
    llama_set_abort_callback(context_, &Ask, this);
  }
  AbortHook(const AbortHook&) = delete;
  AbortHook& operator=(const AbortHook&) = delete;
  ~AbortHook() { llama_set_abort_callback(context_, nullptr, nullptr); }

 private:
  static bool Ask(void* hook) {
    static_cast<AbortHook*>(hook)->beat_.Beat();
    return static_cast<AbortHook*>(hook)->control_.token().cancelled();
  }

  llama_context* const context_;
  const CallControl& control_;
  Heartbeat beat_{control_};
};

// While it exists, if `on`, what is computed sees what lies behind it.
class NonCausal {
 public:
  NonCausal(llama_context* context, bool on) : context_(on ? context : nullptr) {
    if (context_ != nullptr) llama_set_causal_attn(context_, false);
  }
  NonCausal(const NonCausal&) = delete;
  NonCausal& operator=(const NonCausal&) = delete;
  ~NonCausal() {
    if (context_ != nullptr) llama_set_causal_attn(context_, true);
  }

 private:
  llama_context* const context_;
};

LlamaSequence& Of(const PassShare& share) { return static_cast<LlamaSequence&>(*share.sequence); }

}  // namespace

// The tokens of a pass, in the library's form.
struct LlamaDecoder::Batch {
  Batch(size_t tokens, size_t row_width) : width(row_width) {
    token.reserve(tokens);
    position.reserve(tokens);
    ids_of_token.reserve(tokens);
    id.reserve(tokens);
    id_of.reserve(tokens);
    output.reserve(tokens);
  }

  // `row`: instead of the token, if it is not null.
  void Add(Token what, const float* row, uint64_t at, int32_t sequence, bool is_output) {
    token.push_back(static_cast<llama_token>(what));
    if (row != nullptr) rows.insert(rows.end(), row, row + width);
    position.push_back(static_cast<llama_pos>(at));
    id.push_back(sequence);
    ids_of_token.push_back(1);
    output.push_back(is_output ? 1 : 0);
  }

  // Valid until something is added.
  llama_batch View() {
    id_of.clear();
    for (llama_seq_id& one : id) id_of.push_back(&one);
    return {static_cast<int32_t>(token.size()),
            rows.empty() ? token.data() : nullptr,
            rows.empty() ? nullptr : rows.data(),
            position.data(),
            ids_of_token.data(),
            id_of.data(),
            output.data()};
  }

  const size_t width;
  bool non_causal = false;
  std::vector<llama_token> token;
  std::vector<float> rows;  // one of each token, or none at all
  std::vector<llama_pos> position;
  std::vector<int32_t> ids_of_token;  // how many sequences a token belongs to: one
  std::vector<llama_seq_id> id;
  std::vector<llama_seq_id*> id_of;
  std::vector<int8_t> output;
};

LlamaDecoder::LlamaDecoder(LlamaModel& model, KvSequences& kv, bool exact, absl::Duration pass_time)
    : model_(model),
      kv_(kv),
      exact_(exact),
      max_tokens_(model.batch_tokens()),
      max_outputs_(MaxOutputs(model.vocab_size(), model.batch_tokens())),
      threads_(model.threads()),
      pass_size_(model.batch_tokens(), pass_time),
      embed_size_(max_outputs_, pass_time) {}

LlamaDecoder::~LlamaDecoder() = default;

absl::Status LlamaDecoder::MakeRoom(absl::Span<PassShare> shares) {
  uint64_t needed = 0;
  for (PassShare& share : shares) {
    needed += share.tokens.size();
    if (absl::Status status = share.sequence->Reserve(); !status.ok()) return status;
  }
  return kv_.cells().MakeRoom(needed) ? absl::OkStatus() : NoRoom(needed, kv_.cells());
}

absl::Status LlamaDecoder::Run(absl::Span<PassShare> shares, const CallControl& control) {
  if (absl::Status status = MakeRoom(shares); !status.ok()) return status;
  const Clock::time_point begin = Clock::now();
  absl::Status status = exact_ ? RunOneByOne(shares, control) : RunTogether(shares, control);
  size_t tokens = 0;
  for (const PassShare& share : shares) {
    if (!share.complete) return status;
    tokens += share.tokens.size();
  }
  pass_time_ = absl::FromChrono(Clock::now() - begin);
  if (!shares.front().non_causal) pass_size_.Took(tokens, pass_time_);
  return status;
}

LlamaDecoder::Batch LlamaDecoder::NewBatch(size_t tokens) const {
  return Batch(tokens, model_.row_width());
}

// `first`: the one that comes next of the share's tokens.
void LlamaDecoder::AddShare(const PassShare& share, size_t first, size_t count,
                            Batch& batch) const {
  const uint64_t start = share.sequence->computed();
  const int32_t id = *Of(share).Id();
  batch.non_causal = share.non_causal;
  for (size_t i = first; i < first + count; ++i) {
    const float* row = share.rows == nullptr ? nullptr : share.rows + i * batch.width;
    batch.Add(share.tokens[i], row, start + i - first, id,
              i + share.outputs >= share.tokens.size());
  }
}

absl::Status LlamaDecoder::RunTogether(absl::Span<PassShare> shares, const CallControl& control) {
  size_t tokens = 0;
  for (const PassShare& share : shares) tokens += share.tokens.size();
  Batch batch = NewBatch(tokens);
  for (PassShare& share : shares) {
    share.first_output = batch.token.size() + share.tokens.size() - share.outputs;
    AddShare(share, 0, share.tokens.size(), batch);
  }
  const absl::StatusOr<int> result = Decode(batch, control);
  for (PassShare& share : shares) {
    const uint64_t before = share.sequence->computed();
    if (result.ok() && *result == 0) {
      Of(share).AddComputed(share.tokens.size());
    } else {
      Of(share).Resync();
    }
    share.done = share.sequence->computed() - std::min(before, share.sequence->computed());
    share.complete = result.ok() && *result == 0;
  }
  return result.status();
}

absl::Status LlamaDecoder::RunOneByOne(absl::Span<PassShare> shares, const CallControl& control) {
  exact_logits_.clear();
  for (PassShare& share : shares) {
    share.first_output = exact_logits_.size() / model_.vocab_size();
    const size_t step = share.non_causal ? share.tokens.size() : 1;
    for (size_t i = 0; i < share.tokens.size(); i += step) {
      Batch batch = NewBatch(step);
      AddShare(share, i, step, batch);
      const absl::StatusOr<int> result = Decode(batch, control);
      if (!result.ok() || *result != 0) {
        Of(share).Resync();
        return result.status();
      }
      Of(share).AddComputed(step);
      share.done += step;
      if (batch.output.back() == 0) continue;
      const float* logits = llama_get_logits_ith(model_.context(), static_cast<int32_t>(step) - 1);
      if (logits == nullptr) return absl::InternalError("the library has no logits");
      exact_logits_.insert(exact_logits_.end(), logits, logits + model_.vocab_size());
    }
    share.complete = true;
  }
  return absl::OkStatus();
}

// In the exact mode results do not depend on what else the machine does: attention over a long
// context is added up thread by thread.
void LlamaDecoder::SetThreads() {
  const int threads = exact_ ? threads_.most() : threads_.Next();
  if (threads != llama_n_threads(model_.context())) {
    llama_set_n_threads(model_.context(), threads, threads);
  }
}

absl::StatusOr<int> LlamaDecoder::Decode(Batch& batch, const CallControl& control) {
  if (batch.token.empty() || batch.token.size() > max_tokens_) {
    return absl::InternalError("a pass of no tokens, or of too many");
  }
  SetThreads();
  const AbortHook hook(model_.context(), control);
  const NonCausal non_causal(model_.context(), batch.non_causal);
  try {
    const int result = llama_decode(model_.context(), batch.View());
    if (result == 0) llama_synchronize(model_.context());
    if (result == 0 || result == kCancelled) return result;
    // We count cells, so this would be the library's own shortage.
    if (result == 1) return absl::ResourceExhaustedError("the KV cache is full");
    return absl::InternalError(
        absl::StrCat("the library failed to compute: ", result, " ", model_.library().TakeError()));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("the library failed to compute: ", error.what()));
  }
}

absl::Span<float> LlamaDecoder::Logits(const PassShare& share, size_t i) {
  const size_t vocab = model_.vocab_size();
  if (exact_) return absl::MakeSpan(exact_logits_).subspan((share.first_output + i) * vocab, vocab);
  float* logits =
      llama_get_logits_ith(model_.context(), static_cast<int32_t>(share.first_output + i));
  return {logits, logits == nullptr ? 0 : vocab};
}

absl::StatusOr<bool> LlamaDecoder::ComputeSome(LlamaSequence& sequence, uint64_t end,
                                               const CallControl& control) {
  if (sequence.computed() >= end) return true;
  if (!sequence.media().Complete(sequence.computed(), end)) return NoMediaToCompute();
  PassShare share;
  share.sequence = &sequence;
  share.Take(sequence.NextPiece(end, max_tokens()));
  if (absl::Status status = Run(absl::MakeSpan(&share, 1), control); !status.ok()) return status;
  if (share.done < share.tokens.size()) return absl::CancelledError("cancelled while computing");
  return sequence.computed() >= end;
}

absl::Status LlamaDecoder::AddEmbeddings(Batch& batch, const CallControl& control,
                                         std::vector<double>& sum) {
  const Clock::time_point begin = Clock::now();
  llama_set_embeddings(model_.context(), true);
  const absl::StatusOr<int> result = Decode(batch, control);
  llama_set_embeddings(model_.context(), false);
  if (!result.ok()) return result.status();
  if (*result != 0) return absl::CancelledError("cancelled while computing");
  embed_size_.Took(batch.token.size(), absl::FromChrono(Clock::now() - begin));
  for (size_t i = 0; i < batch.token.size(); ++i) {
    const float* state = llama_get_embeddings_ith(model_.context(), static_cast<int32_t>(i));
    if (state == nullptr) return absl::InternalError("the library has no embeddings");
    for (size_t j = 0; j < sum.size(); ++j) sum[j] += static_cast<double>(state[j]);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> LlamaDecoder::Embed(absl::Span<const Token> tokens,
                                                       const CallControl& control) {
  if (!kv_.cells().MakeRoom(tokens.size())) return NoRoom(tokens.size(), kv_.cells());
  const std::unique_ptr<KvSequence> scratch = KvSequence::Take(kv_);
  if (scratch == nullptr)
    return absl::ResourceExhaustedError("no sequence is left to compute with");
  std::vector<double> sum(model_.embedding_size());
  for (size_t start = 0, count = 0; start < tokens.size(); start += count) {
    if (absl::Status status = control.GoOn(); !status.ok()) return status;
    count = std::min(exact_ ? 1 : embed_size_.tokens(), tokens.size() - start);
    Batch batch = NewBatch(count);
    for (size_t i = 0; i < count; ++i) {
      batch.Add(tokens[start + i], nullptr, start + i, scratch->id(), true);
    }
    if (absl::Status status = AddEmbeddings(batch, control, sum); !status.ok()) return status;
  }
  std::vector<float> mean;
  mean.reserve(sum.size());
  for (const double value : sum) {
    mean.push_back(static_cast<float>(value / static_cast<double>(tokens.size())));
  }
  return mean;
}

}  // namespace superfluid
