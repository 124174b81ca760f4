#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_WORLD_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/prefix_cache.h"
#include "engine/cache/prefix_leases.h"
#include "engine/constrain/grammar_book.h"
#include "engine/llama/llama_adapter.h"
#include "engine/llama/llama_decoder.h"
#include "engine/llama/llama_kv.h"
#include "engine/llama/llama_media.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/llama_options.h"
#include "engine/llama/llama_sequences.h"
#include "engine/llama/llama_strategy.h"
#include "engine/llama/state_layout.h"
#include "engine/sampling/handle_source.h"
#include "engine/sampling/logit_biases.h"

namespace superfluid {

inline constexpr size_t kLlamaMaxLeases = 1024;

// Everything that exists in a llama engine. Ticks and state jobs work on it.
// Threads: one. Lifetime: outlives every tick and state job.
struct LlamaWorld {
  // `encoder`: null without a projector.
  LlamaWorld(const LlamaOptions& given, std::unique_ptr<LlamaModel> loaded,
             std::unique_ptr<MediaEncoder> encoder);
  LlamaWorld(const LlamaWorld&) = delete;
  LlamaWorld& operator=(const LlamaWorld&) = delete;

  // Computes a few tokens once: warms the model up, learns how the library writes state, and how
  // long a small pass takes. Errors: Internal.
  absl::Status WarmUp();
  absl::Duration warm_pass_time;  // of PassSize::kLeast tokens, once warm

  // OK if the loaded adapter is the one that the sequence was made under: only then may more of its
  // state be computed. FailedPrecondition.
  absl::Status CheckAdapter(const LlamaSequence& sequence) const;
  // Computes what is missing of the state of the first `end` tokens, one pass a call. True: it is
  // all there. Errors as LlamaDecoder::ComputeSome; FailedPrecondition: see CheckAdapter.
  absl::StatusOr<bool> ComputeSome(LlamaSequence& sequence, uint64_t end,
                                   const CallControl& control);

  PrefixLeases::Moment Now() const;
  void ExpireLeases() { leases.Expire(Now()); }
  // InvalidArgument: no such token.
  absl::Status CheckTokens(absl::Span<const Token> tokens) const;

  uint64_t ticks = 0;  // over the engine's life
  const LlamaOptions options;
  const std::unique_ptr<LlamaModel> model;
  HandleSource handles;
  KvCells cells;
  KvSequences kv;
  LlamaDecoder decoder;
  StateLayout layout;  // see WarmUp; without known() there are no state ops
  PrefixCache cache;
  PrefixLeases leases;
  LlamaSequences sequences;
  GrammarBook grammars;
  LogitBiases biases;
  LlamaAdapter adapter;
  LlamaStrategies strategies;
  LlamaMedia media;
  // Something that is no number was computed: the library's cells may hold it, which reaches every
  // sequence (see StateLayout), even after they are free.
  bool cells_spoilt = false;
  // Clears them if they are, and nobody has any.
  void ClearSpoiltCells();

  uint64_t tentative_tokens = 0;  // of imports that have not taken effect

 private:
  // Computes `count` more tokens of it, whatever they are.
  absl::Status AddBlank(LlamaSequence& sequence, uint64_t count);
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_WORLD_H_
