#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCE_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/handles.h"
#include "engine/llama/llama_kv.h"
#include "engine/llama/sequence_media.h"

namespace superfluid {

// The adapter that a sequence was made under.
struct LlamaAdapterRef {
  AdapterId id{};
  uint64_t fingerprint = 0;
};

// What a grammar had read of a sequence when a lane last drew from it, so that the next tick need
// not read it again. Good only for exactly these tokens.
struct GrammarCursor {
  GrammarHandle grammar{};
  uint64_t start = 0;  // where what was drawn since the last input begins
  uint64_t end = 0;    // where it had read up to
  LaneConstraint constraint;
};

// What can be computed next of a sequence in one go: tokens of one kind.
struct LlamaPiece {
  std::vector<Token> tokens;
  // Not null: they stand for media, and a row of numbers for each of them is computed instead.
  const float* rows = nullptr;
  bool non_causal = false;  // they see each other, so they are computed in one micro-batch
};

// A token sequence and its KV state:
//
//   0            computed          length
//   |--------------|------------------|
//     in the cache,   known, computed
//     or demoted      when needed
//
// The tokens are ours. State is computed lazily: of a token just drawn only when the next one is
// drawn, so that a decode computes each token once, however it is split into ticks.
//
// Threads: one. Lifetime: the KV sequences must outlive it.
class LlamaSequence {
 public:
  LlamaSequence(KvSequences& kv, LlamaAdapterRef adapter);
  LlamaSequence(const LlamaSequence&) = delete;
  LlamaSequence& operator=(const LlamaSequence&) = delete;

  // A sequence with the same tokens and state, of which nothing may be missing. Null: no sequence
  // id is left.
  std::unique_ptr<LlamaSequence> Fork() const;

  const LlamaAdapterRef& adapter() const { return adapter_; }
  absl::Span<const Token> tokens() const { return tokens_; }
  uint64_t length() const { return tokens_.size(); }
  uint64_t computed() const { return cells_.size(); }
  bool drawn(uint64_t position) const { return drawn_[position]; }
  // Where what was drawn since the last input begins.
  uint64_t OutputStart() const;
  // Changes with everything that may change an export.
  uint64_t version() const { return version_; }

  void Append(absl::Span<const Token> tokens, bool drawn);
  // Which of its tokens stand for media. Items are added to tokens that are there.
  const SequenceMedia& media() const { return media_; }
  SequenceMedia& media() { return media_; }
  // Cuts tokens and state back to `length`; nothing of it is missing.
  void RollBack(uint64_t length);
  // Cuts tokens and state. FailedPrecondition: the cut lies within a demoted range;
  // InvalidArgument: within tokens that are computed at once.
  absl::Status Trim(uint64_t new_len);

  // ---- State in the library

  // The library's id, taken with the first use. ResourceExhausted: none is left.
  absl::StatusOr<int32_t> Id();
  // What to compute next of what lies before `end`, which is beyond computed(); up to `max` tokens,
  // or all of them, also beyond `end`, if they are computed at once.
  LlamaPiece NextPiece(uint64_t end, uint64_t max) const;
  // The library has computed `count` more tokens, which may go beyond length() (drafts).
  void AddComputed(uint64_t count) { cells_.AddNew(count); }
  // Forgets what is computed from `end` on.
  void Uncompute(uint64_t end);
  // What the library has, after a pass that did not end well; counts what it kept.
  void Resync();
  // Begins a sequence without state with the first `cells.size()` of `tokens`, whose state the
  // library sequence `from` has.
  absl::Status UseCached(int32_t from, absl::Span<const KvCell> cells,
                         absl::Span<const Token> tokens);
  const KvRun& cells() const { return cells_; }

  // ---- What is not on the device

  bool IsMissing() const { return !missing_.empty(); }
  bool IsMissing(TokenRange range) const;
  bool HasMissing(TokenRange range) const;  // exactly this one
  // The range is computed, and nothing of it missing.
  void Demote(TokenRange range);
  // Fills in a demoted range from the library sequence `from`, whose cells these are.
  void Promote(TokenRange range, int32_t from, const KvRun& cells);
  // All of it is what `state` has.
  void Replace(std::vector<Token> tokens, std::vector<bool> drawn, MediaMap media,
               std::unique_ptr<KvSequence> state, KvRun cells);

  std::optional<GrammarCursor>& cursor() { return cursor_; }

  // Whether the library has what we think it has. For tests.
  bool CheckInvariants() const;

 private:
  void Touch() { ++version_; }

  KvSequences& kv_;
  LlamaAdapterRef adapter_;
  std::vector<Token> tokens_;
  std::vector<bool> drawn_;
  SequenceMedia media_;
  std::unique_ptr<KvSequence> state_;  // null: nothing is computed
  KvRun cells_;                        // of the computed tokens; of a missing one kNoCell
  std::vector<TokenRange> missing_;
  std::optional<GrammarCursor> cursor_;
  uint64_t version_ = 1;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCE_H_
