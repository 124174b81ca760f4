#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_DECODER_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/call_control.h"
#include "engine/compute_threads.h"
#include "engine/generation/token_model.h"
#include "engine/llama/llama_kv.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/llama_sequence.h"
#include "engine/llama/pass_size.h"

namespace superfluid {

// Passes over the model: the only place that lets the library compute. A pass computes the shares
// of many lanes in one batch. The abort hook of the library is asked at each node of its graph;
// what it takes back of a pass that was cancelled inside is taken back in the sequences, too. Each
// node is a sign of life (CallControl::Progress, at most fifty a second). On a GPU the hook is
// asked between micro-batches.
//
// Threads: one. Lifetime: the model must outlive it.
class LlamaDecoder {
 public:
  // `pass_time`: what a pass of tokens should take; see PassSize.
  LlamaDecoder(LlamaModel& model, KvSequences& kv, bool exact, absl::Duration pass_time);
  LlamaDecoder(const LlamaDecoder&) = delete;
  LlamaDecoder& operator=(const LlamaDecoder&) = delete;
  ~LlamaDecoder();

  // Of the next pass: tokens, whatever they stand for (a non-causal share may have more), and
  // outputs (their logits are kept until the next pass).
  size_t max_tokens() const { return pass_size_.tokens(); }
  size_t max_outputs() const { return max_outputs_; }

  // How long the last pass took that was not cancelled.
  absl::Duration pass_time() const { return pass_time_; }

  // OK also if the token was set meanwhile; `done` says what was computed. Errors:
  // ResourceExhausted (no room; nothing has changed), Internal (the library failed; sequences hold
  // what it kept).
  absl::Status Run(absl::Span<PassShare> shares, const CallControl& control);
  // The logits of the share's i-th output, until the next pass. May be changed.
  absl::Span<float> Logits(const PassShare& share, size_t i);

  // Computes the sequence up to `end`, one pass a call. True: it is. Errors as Run; Cancelled;
  // FailedPrecondition: it has media that is not here. Whether the adapter is the sequence's is for
  // the caller to check.
  absl::StatusOr<bool> ComputeSome(LlamaSequence& sequence, uint64_t end,
                                   const CallControl& control);

  // The mean of the last layer's states of these tokens, as many numbers as
  // LlamaModel::embedding_size, computed pass by pass. ResourceExhausted, Internal, Cancelled.
  absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                           const CallControl& control);

 private:
  struct Batch;

  absl::Status MakeRoom(absl::Span<PassShare> shares);
  absl::Status RunTogether(absl::Span<PassShare> shares, const CallControl& control);
  absl::Status RunOneByOne(absl::Span<PassShare> shares, const CallControl& control);
  void SetThreads();
  // 0; 2: cancelled.
  absl::StatusOr<int> Decode(Batch& batch, const CallControl& control);
  Batch NewBatch(size_t tokens) const;
  void AddShare(const PassShare& share, size_t first, size_t count, Batch& batch) const;
  absl::Status AddEmbeddings(Batch& batch, const CallControl& control, std::vector<double>& sum);

  LlamaModel& model_;
  KvSequences& kv_;
  const bool exact_;
  const size_t max_tokens_;
  const size_t max_outputs_;
  ThreadChoice threads_;
  PassSize pass_size_;
  PassSize embed_size_;  // of a pass of Embed, which has an output for each token
  absl::Duration pass_time_;
  std::vector<float> exact_logits_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_DECODER_H_
