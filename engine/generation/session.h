#ifndef SUPERFLUID_ENGINE_GENERATION_SESSION_H_
#define SUPERFLUID_ENGINE_GENERATION_SESSION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/prefix_cache.h"
#include "engine/cache/prefix_leases.h"
#include "engine/call_control.h"
#include "engine/constrain/grammar_book.h"
#include "engine/generation/media_book.h"
#include "engine/generation/sequence_book.h"
#include "engine/generation/strategy_book.h"
#include "engine/generation/token_model.h"
#include "engine/sampling/handle_source.h"
#include "engine/sampling/logit_biases.h"

namespace superfluid {

// Everything that exists of a token generator beside its model. Ticks and state jobs work on it.
// Threads: one. Lifetime: outlives every tick and state job; the model must outlive it.
struct Session {
  explicit Session(TokenModel& token_model);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  PrefixLeases::Moment Now() const { return {model.Now(), ticks}; }
  void ExpireLeases() { leases.Expire(Now()); }

  // InvalidArgument: no such token.
  absl::Status CheckTokens(absl::Span<const Token> tokens) const;
  // OK if the loaded adapter is the one that the sequence was made under: only then may more of its
  // state be computed. FailedPrecondition.
  absl::Status CheckAdapter(const SessionSequence& sequence) const;
  // Computes what is missing of the state of the first `end` tokens, one pass a call. True: it is
  // all there. Errors as TokenModel::Compute; FailedPrecondition: see CheckAdapter.
  absl::StatusOr<bool> ComputeSome(SessionSequence& sequence, uint64_t end,
                                   const CallControl& control);

  TokenModel& model;
  const TokenModel::Facts& facts;
  uint64_t ticks = 0;  // over the engine's life
  HandleSource handles;
  PrefixCache cache;
  PrefixLeases leases;
  SequenceBook sequences;
  GrammarBook grammars;
  LogitBiases biases;
  StrategyBook strategies;
  MediaBook media;
  AdapterRef adapter;  // that is loaded
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SESSION_H_
