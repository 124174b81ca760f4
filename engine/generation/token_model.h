#ifndef SUPERFLUID_ENGINE_GENERATION_TOKEN_MODEL_H_
#define SUPERFLUID_ENGINE_GENERATION_TOKEN_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/cache/prefix_cache.h"
#include "engine/cache/prefix_leases.h"
#include "engine/call_control.h"
#include "engine/constrain/vocabulary.h"
#include "engine/engine.h"
#include "engine/generation.h"
#include "engine/generation/drafter.h"
#include "engine/generation/media_book.h"
#include "engine/generation/session_sequence.h"
#include "engine/generation/state_mover.h"
#include "engine/sampling/strategy_check.h"
#include "engine/tick.h"

namespace superfluid {

// What one lane has computed in a pass.
struct PassShare {
  SessionSequence* sequence = nullptr;
  std::vector<Token> tokens;    // that follow what is computed; of an eager model only drafts
  const float* rows = nullptr;  // as of SequencePiece; the shares of a pass have all rows, or none
  bool non_causal = false;      // such a share has a pass of its own
  size_t outputs = 0;           // the logits of so many of the last tokens are wanted
  // Filled in.
  size_t done = 0;          // of tokens; all of them unless the pass was cancelled
  bool complete = false;    // the pass was not cancelled, so there are outputs
  size_t first_output = 0;  // for the model

  void Take(SequencePiece piece) {
    tokens = std::move(piece.tokens);
    rows = piece.rows;
    non_causal = piece.non_causal;
  }
};

// A model that computes tokens: *the place where an engine's author starts*. SessionGeneration
// makes a Generation of it: handles, sequences and forks, lanes and how they draw, grammars,
// biases, strategies, the prefix cache with its leases, media and where they are bound, the one
// adapter, what may be exported and imported, and every rule about these, are there and once. What
// is here is numbers: to compute a batch, to copy, cut, write and read state.
//
// A model has a class of its own for sequences, derived from SessionSequence (NewSequence makes
// one, and it comes back as it was made). What it has to offer has no default; the rest, below the
// line "May be left", has one that says Unimplemented or "there is none".
//
// How long a call may take: as Generation. Calls with a CallControl call GoOn before each pass.
//
// Threads: one. Lifetime: owned by its SessionGeneration, outlives all that it made.
class TokenModel {
 public:
  static constexpr size_t kMaxLanes = 256;  // of a tick

  // Constant over the model's life.
  struct Facts {
    StrategyOffer offer;         // the engine's name, the architecture, vocabulary and context
    size_t max_sequences = 256;  // that exist
    PrefixLeases::Limits leases;
    uint64_t block_bytes = 0;  // what a cached block gives back
    // The best class of AcquireSeed: 0, whatever is cached; 1, what a fresh computation would give
    // bit by bit.
    uint32_t best_determinism = 0;
    // State is computed with each token appended, and the logits of its end can be had without
    // another pass; otherwise it is computed by Decode, up to the last token but one, until the
    // logits of the last are wanted.
    bool eager = false;
    // Which of the calls that may be left there are.
    bool embeddings = false;
    bool adapters = false;
    bool stages = false;
    // A strategy that is always there; MakeDrafter knows it. Empty: there are none.
    std::string built_in_strategy;
    // What is said where media() is null.
    std::string without_media = "the engine knows no media";

    uint32_t vocab() const { return static_cast<uint32_t>(offer.vocab_size); }
    uint64_t context() const { return offer.context_tokens; }  // tokens of a sequence
  };

  TokenModel() = default;
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  virtual const Facts& facts() const = 0;
  // What the tokens are in bytes, and which of them end a text.
  virtual TokenTexts Texts() const = 0;
  virtual bool EndsText(Token token) const = 0;

  // A sequence without tokens.
  virtual std::unique_ptr<SessionSequence> NewSequence(AdapterRef adapter) = 0;

  // ---- Passes

  // Of the next pass: tokens, whatever they stand for (a non-causal share may have more), and
  // outputs.
  virtual size_t max_tokens() const { return SIZE_MAX; }
  virtual size_t max_outputs() const { return SIZE_MAX; }
  // Computes the shares, in one batch if it can. OK also if the token was set meanwhile; `done`
  // says what was computed. Errors: ResourceExhausted (no room; nothing has changed); others
  // (sequences hold what was kept).
  virtual absl::Status Decode(absl::Span<PassShare> shares, const CallControl& control) = 0;
  // The logits of the share's i-th output, until the next pass. May be changed. They are asked for
  // in order, and those of a draft only after it was appended. Empty: the model failed.
  virtual absl::Span<float> Logits(const PassShare& share, size_t i) = 0;
  // Computes the sequence up to `end`, one pass a call. True: it is. It is called once at least
  // where state of a sequence is asked for. Errors as Decode; Cancelled; FailedPrecondition: it
  // has media that is not here. The adapter is the sequence's.
  virtual absl::StatusOr<bool> Compute(SessionSequence& sequence, uint64_t end,
                                       const CallControl& control) = 0;
  // A tick begins, of those counted from 1. An error is the tick's.
  virtual absl::Status BeginTick(uint64_t /*number*/) { return absl::OkStatus(); }

  // The state that a sequence has; at least one space.
  virtual std::vector<StateSpace> Spaces() const = 0;

  // ---- The prefix cache

  // What is cached of the prefix that is about to be: its blocks, from the first on.
  using KnownBlocks = std::function<std::vector<CachedBlockRef>()>;
  // Makes blocks of the state of the first `end` tokens, of kCacheBlockTokens each, computed and on
  // the device. Null for those that `known` gives; it is asked after all room that it takes was
  // made, which may evict some of them. ResourceExhausted.
  virtual absl::StatusOr<std::vector<CachedBlockRef>> CacheBlocks(SessionSequence& sequence,
                                                                  uint64_t end,
                                                                  const KnownBlocks& known) = 0;
  // Where room is to be had by letting go of cached blocks. Called once, before anything else.
  virtual void UseCache(PrefixCache& cache) = 0;

  // ---- May be left

  // State that goes out and comes back. What has been checked: handle, space, encoding, range,
  // size; of an import, also adapter and provenance. Of `what` is left what the bytes are.
  virtual bool CanExport() const { return false; }
  virtual uint64_t ExportBytes(const SessionSequence& sequence, SpaceId space, TokenRange range,
                               uint32_t encoding) const;
  virtual absl::StatusOr<std::unique_ptr<StateMover>> StartExport(SessionSequence& sequence,
                                                                  const StateExport& what,
                                                                  absl::Span<std::byte> out);
  virtual absl::StatusOr<std::unique_ptr<StateMover>> StartImport(
      SessionSequence& sequence, const StateImport& what, absl::Span<const std::byte> bytes);

  // Tokens that exist, at least one, at most as many as the context has.
  virtual absl::StatusOr<std::vector<float>> Embed(absl::Span<const Token> tokens,
                                                   const CallControl& control);
  virtual absl::StatusOr<StageOutput> ForwardStage(const StageWork& work,
                                                   const CallControl& control);

  // Computes with this adapter from now on; returns its fingerprint, never 0. After an error the
  // one before stays.
  virtual absl::StatusOr<uint64_t> LoadAdapter(const std::string& path, const CallControl& control);
  virtual void UnloadAdapter() {}

  // Null: it knows no media.
  virtual MediaModel* media() { return nullptr; }

  // Errors as StrategyBook::Maker.
  virtual absl::StatusOr<std::unique_ptr<Drafter>> MakeDrafter(const StrategyId& id);

  // The time by which leases expire.
  virtual absl::Time Now() const;
  // Without what the session knows: the cache, and media on the host.
  virtual MemoryCounters Memory() const { return {}; }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_TOKEN_MODEL_H_
