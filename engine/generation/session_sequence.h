#ifndef SUPERFLUID_ENGINE_GENERATION_SESSION_SEQUENCE_H_
#define SUPERFLUID_ENGINE_GENERATION_SESSION_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/prefix_cache.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/generation/media_item.h"
#include "engine/generation/missing_ranges.h"
#include "engine/generation/sequence_media.h"
#include "engine/handles.h"
#include "engine/state_job.h"

namespace superfluid {

// The adapter that a sequence was made under.
struct AdapterRef {
  AdapterId id{};            // another one each time an adapter is loaded
  uint64_t fingerprint = 0;  // of what it computes; 0: no adapter
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
struct SequencePiece {
  std::vector<Token> tokens;
  // Not null: they stand for media, and a row of numbers for each of them is computed instead.
  const float* rows = nullptr;
  bool non_causal = false;  // they see each other, so they are computed at once
};

// A token sequence:
//
//   0            computed          length
//   |--------------|------------------|
//     state on the    known, computed
//     device, or      when needed
//     demoted
//
// The history (which tokens, which of them drawn, what they stand for, under which adapter) is kept
// here, by the rules of a session, and stays while state is demoted. The state is the model's: a
// model derives its own sequence, and appends, cuts and rolls back both together.
//
// A model computes state when a pass is run (TokenModel::Decode), or with each token that is
// appended (TokenModel::Facts::eager); then computed() is always length().
//
// Threads: one. Lifetime: the model must outlive it.
class SessionSequence {
 public:
  virtual ~SessionSequence() = default;
  SessionSequence& operator=(const SessionSequence&) = delete;

  // ---- History

  const AdapterRef& adapter() const { return adapter_; }
  absl::Span<const Token> tokens() const { return tokens_; }
  uint64_t length() const { return tokens_.size(); }
  bool drawn(uint64_t position) const { return drawn_[position]; }
  // Where what was drawn since the last input begins.
  uint64_t OutputStart() const;
  // Which of its tokens stand for media. Media of an input is added before its tokens are.
  const SequenceMedia& media() const { return media_; }
  SequenceMedia& media() { return media_; }
  std::optional<GrammarCursor>& cursor() { return cursor_; }
  // What the state of the first `end` tokens is computed from.
  Digest HistoryProvenance(uint64_t end) const;
  // What to compute next of what lies before `end`, which is beyond computed(); up to `max` tokens,
  // or all of them, also beyond `end`, if they are computed at once.
  SequencePiece NextPiece(uint64_t end, uint64_t max) const;

  // ---- State, as ticks use it

  virtual uint64_t computed() const = 0;
  // Takes what it needs to have state at all, so that a lane that finds no room fails before a
  // pass. ResourceExhausted.
  virtual absl::Status Reserve() { return absl::OkStatus(); }
  // Whether it can be appended to and drawn from. FailedPrecondition: part of its state is not on
  // the device, or its spaces disagree.
  virtual absl::Status Ready();
  // A sequence with the same history and state, of which nothing is missing. ResourceExhausted.
  virtual absl::StatusOr<std::unique_ptr<SessionSequence>> Fork() const = 0;
  // ResourceExhausted: an eager model has no room for their state; Mark and RollBack undo it.
  virtual absl::Status Append(absl::Span<const Token> tokens, bool drawn) = 0;
  // Begins a sequence without tokens with the first ones of `tokens`, whose state the blocks are.
  // ResourceExhausted.
  virtual absl::Status UseCached(absl::Span<const CachedBlockRef> blocks,
                                 absl::Span<const Token> tokens) = 0;
  // Remembers the sequence as it is for RollBack. It is ready.
  virtual void Mark() { mark_ = length(); }
  // Cuts history and state back to the mark.
  virtual void RollBack() = 0;
  // Forgets what is computed from `end` on. An eager model computes nothing that is not appended.
  virtual void Uncompute(uint64_t /*end*/) {}

  // ---- State, as exports and imports use it. Spaces are those of the model

  bool IsMissing(TokenRange range) const { return missing_.Overlap(range); }
  virtual bool IsMissing() const { return !missing_.empty(); }
  virtual uint64_t LengthOf(SpaceId /*space*/) const { return length(); }
  // Changes with everything that may change an export.
  virtual uint64_t version(SpaceId /*space*/) const { return version_; }
  // As Generation::Trim; FailedPrecondition: the cut lies within a demoted range.
  absl::Status Trim(SpaceId space, uint64_t new_len);
  // The largest boundary up to `cap`. FailedPrecondition: part of what is before is missing.
  virtual absl::StatusOr<uint64_t> Boundary(SpaceId space, uint64_t cap) const = 0;
  // InvalidArgument: beyond the sequence, or nothing that state can be of.
  virtual absl::Status CheckRange(SpaceId space, TokenRange range) const;
  // InvalidArgument: beyond the sequence, or not at boundaries; FailedPrecondition: part of it is
  // missing.
  virtual absl::Status CheckExport(SpaceId space, TokenRange range) const = 0;
  // Of a range within the sequence.
  virtual Digest Provenance(SpaceId space, TokenRange range) const;
  // State that comes back. FailedPrecondition: nothing is demoted, or state of another provenance;
  // InvalidArgument: another range is.
  absl::Status CheckPromote(SpaceId space, TokenRange range, const Digest& provenance) const;

  // For tests: whether what the model has is what the history says.
  virtual bool CheckInvariants() const {
    return drawn_.size() == length() && computed() <= length();
  }

 protected:
  explicit SessionSequence(AdapterRef adapter) : adapter_(adapter) {}
  SessionSequence(const SessionSequence& other) = default;

  uint64_t mark() const { return mark_; }
  MissingRanges& missing() { return missing_; }
  const MissingRanges& missing() const { return missing_; }
  // Cuts one space to less than it is; the rest of Trim.
  virtual absl::Status CutSpace(SpaceId space, uint64_t new_len) = 0;
  virtual bool AnyDemoted(SpaceId /*space*/) const { return !missing_.empty(); }
  virtual bool IsDemoted(SpaceId /*space*/, TokenRange range) const { return missing_.Has(range); }

  void CopyHistory(const SessionSequence& parent);  // of a fork
  void AppendHistory(absl::Span<const Token> tokens, bool drawn);
  void CutHistory(uint64_t length);
  void ReplaceHistory(std::vector<Token> tokens, std::vector<bool> drawn, MediaMap media);
  void Touch() { ++version_; }

 private:
  AdapterRef adapter_;
  std::vector<Token> tokens_;
  std::vector<bool> drawn_;
  SequenceMedia media_;
  MissingRanges missing_;
  std::optional<GrammarCursor> cursor_;
  uint64_t mark_ = 0;
  uint64_t version_ = 1;
};

// What is said of a range that is needed and demoted.
absl::Status PartIsMissing();
// What is said of a sequence that was restored where media is to be computed again.
absl::Status NoMediaToCompute();

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SESSION_SEQUENCE_H_
