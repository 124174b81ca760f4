#ifndef SUPERFLUID_ENGINE_SIM_SIM_SEQUENCE_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SEQUENCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/handles.h"
#include "engine/sim/sim_blocks.h"
#include "engine/sim/sim_model.h"

namespace superfluid {

// The adapter that a sequence was made under.
struct SimAdapterRef {
  AdapterId id{};
  uint64_t fingerprint = 0;
};

// A token sequence and its state in both spaces. The rows lie in blocks of the pool that copies of
// the sequence and the cache share; the history (which tokens, which of them drawn) is the host's,
// so a sequence knows it even while rows are demoted.
//
// A copy is a fork. Threads: one. Lifetime: the pool must outlive it.
class SimSequence {
 public:
  // Where RollBack goes to.
  struct Mark {
    SimPoint point;
  };

  SimSequence(SimBlockPool& pool, SimAdapterRef adapter);

  const SimAdapterRef& adapter() const { return adapter_; }
  uint64_t length() const { return tokens_.size(); }  // of the space kv
  uint64_t LengthOf(SpaceId space) const;
  absl::Span<const Token> tokens() const { return tokens_; }
  const MediaMap& media() const { return media_; }
  bool drawn(uint64_t position) const { return drawn_[position]; }
  // Where what was drawn since the last input begins.
  uint64_t OutputStart() const;

  // Whether it can be appended to and drawn from; call it before these. FailedPrecondition: part of
  // its state is demoted, or its spaces disagree.
  absl::Status Ready();
  const SimPoint& point() const { return point_; }

  // ResourceExhausted: no block; nothing has changed then.
  absl::Status Append(Token token, uint64_t media, bool drawn);
  // Begins an empty sequence with cached blocks, the state of the first of `tokens`.
  void UseCached(absl::Span<const SimCachedBlock> blocks, absl::Span<const Token> tokens,
                 const MediaMap& media);

  // Ready sequences only.
  Mark GetMark() const { return {point_}; }
  void RollBack(const Mark& mark);

  // As Generation::Trim; FailedPrecondition: the cut lies within a demoted range.
  absl::Status Trim(SpaceId space, uint64_t new_len);

  // ---- State, see sim_sequence_state.cc ----

  // Changes with everything that may change an export.
  uint64_t version(SpaceId space) const { return versions_[static_cast<uint32_t>(space)]; }
  bool IsMissing() const { return !missing_.empty() || recurrent_missing_; }
  // InvalidArgument: a range beyond the space's length.
  absl::Status CheckRange(SpaceId space, TokenRange range) const;
  // InvalidArgument: beyond it, or not at boundaries; FailedPrecondition: (partly) demoted.
  absl::Status CheckExport(SpaceId space, TokenRange range) const;
  absl::StatusOr<uint64_t> Boundary(SpaceId space, uint64_t cap) const;
  // Of a valid range.
  Digest Provenance(SpaceId space, TokenRange range) const;
  // Of a position that is not demoted.
  const SimRow& Row(uint64_t position) const;
  // FailedPrecondition: neither known nor to be computed from the history.
  absl::StatusOr<SimRecurrent> RecurrentAt(uint64_t position) const;
  // The first blocks, to be cached. FailedPrecondition: (partly) demoted.
  absl::StatusOr<std::vector<SimCachedBlock>> WholeBlocks(uint64_t count) const;

  // Frees the rows of a range (kv), or the recurrent state.
  void Demote(SpaceId space, TokenRange range);
  // FailedPrecondition: nothing is demoted, or of another provenance; InvalidArgument: not this
  // range.
  absl::Status CheckPromote(SpaceId space, TokenRange range, const Digest& provenance) const;
  // `blocks`: as many as the range touches; not taken after an error. InvalidArgument: the rows are
  // not those of the history.
  absl::Status Promote(TokenRange range, absl::Span<const SimDecodedRow> rows,
                       SimTentativeBlocks& tentative);
  void Replace(absl::Span<const SimDecodedRow> rows, std::vector<SimBlockRef> blocks);
  void SetRecurrent(uint64_t end, const SimRecurrent& state, const Digest& provenance);

  // For tests and counters.
  const std::vector<SimBlockRef>& blocks() const { return blocks_; }
  bool CheckInvariants() const;

 private:
  struct Origin {  // what a recurrent state is of that may not be that of the rows
    uint64_t end = 0;
    Digest provenance{};
  };

  absl::Status OwnTail();
  void CutRows(uint64_t new_len);
  absl::Status TrimRows(uint64_t new_len);
  absl::Status TrimRecurrent(uint64_t new_len);
  void RefoldRows();
  void RememberOrigin();
  bool RowsMissing(TokenRange range) const;
  bool Covered(TokenRange range) const;
  Digest HistoryProvenance(uint64_t end) const;
  void Touch(SpaceId space) { ++versions_[static_cast<uint32_t>(space)]; }
  SimInput InputAt(uint64_t position) const;

  SimBlockPool* pool_;
  SimAdapterRef adapter_;
  std::vector<Token> tokens_;
  std::vector<bool> drawn_;
  MediaMap media_;
  std::vector<SimBlockRef> blocks_;   // null: all of its rows are demoted
  std::vector<TokenRange> missing_;   // in no order
  SimPoint point_ = SimStartPoint();  // its fold of rows is stale if rows_changed_
  bool rows_changed_ = false;
  uint64_t recurrent_length_ = 0;
  bool recurrent_missing_ = false;
  std::map<uint64_t, SimRecurrent> checkpoints_;  // at multiples of kSimBlockTokens
  std::optional<Origin> origin_;
  uint64_t versions_[2] = {1, 1};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SEQUENCE_H_
