#ifndef SUPERFLUID_ENGINE_SIM_SIM_SEQUENCE_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SEQUENCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/prefix_cache.h"
#include "engine/generation/session_sequence.h"
#include "engine/handles.h"
#include "engine/sim/sim_blocks.h"
#include "engine/sim/sim_model.h"

namespace superfluid {

// A token sequence and its state in both spaces. The rows lie in blocks of the pool that copies of
// the sequence and the cache share. State is computed with each token appended.
//
// A copy is a fork. Threads: one. Lifetime: the pool must outlive it.
class SimSequence final : public SessionSequence {
 public:
  SimSequence(SimBlockPool& pool, AdapterRef adapter);
  SimSequence(const SimSequence&) = default;

  uint64_t LengthOf(SpaceId space) const override;
  uint64_t computed() const override { return length(); }

  // Call it before those below. FailedPrecondition: also if its spaces disagree.
  absl::Status Ready() override;
  const SimPoint& point() const { return point_; }
  absl::StatusOr<std::unique_ptr<SessionSequence>> Fork() const override {
    return std::make_unique<SimSequence>(*this);
  }
  // ResourceExhausted: no block; those before are appended.
  absl::Status Append(absl::Span<const Token> tokens, bool drawn) override;
  // One that stands for media; 0: it does not.
  absl::Status Append(Token token, uint64_t media, bool drawn);
  absl::Status UseCached(absl::Span<const CachedBlockRef> blocks,
                         absl::Span<const Token> tokens) override;
  void Mark() override;
  void RollBack() override;

  // ---- State, see sim_sequence_state.cc ----

  uint64_t version(SpaceId space) const override { return versions_[static_cast<uint32_t>(space)]; }
  using SessionSequence::IsMissing;
  bool IsMissing() const override { return !missing().empty() || recurrent_missing_; }
  absl::Status CheckExport(SpaceId space, TokenRange range) const override;
  absl::StatusOr<uint64_t> Boundary(SpaceId space, uint64_t cap) const override;
  Digest Provenance(SpaceId space, TokenRange range) const override;
  // Of a position that is not demoted.
  const SimRow& Row(uint64_t position) const;
  // FailedPrecondition: neither known nor to be computed from the history.
  absl::StatusOr<SimRecurrent> RecurrentAt(uint64_t position) const;
  // The first blocks, to be cached. FailedPrecondition: (partly) demoted.
  absl::StatusOr<std::vector<SimCachedBlock>> WholeBlocks(uint64_t count) const;

  // Frees the rows of a range (kv), or the recurrent state.
  void Demote(SpaceId space, TokenRange range);
  // `blocks`: as many as the range touches; not taken after an error. InvalidArgument: the rows are
  // not those of the history.
  absl::Status Promote(TokenRange range, absl::Span<const SimDecodedRow> rows,
                       SimTentativeBlocks& tentative);
  void Replace(absl::Span<const SimDecodedRow> rows, std::vector<SimBlockRef> blocks);
  void SetRecurrent(uint64_t end, const SimRecurrent& state, const Digest& provenance);

  // For tests and counters.
  const std::vector<SimBlockRef>& blocks() const { return blocks_; }
  bool CheckInvariants() const override;

 protected:
  absl::Status CutSpace(SpaceId space, uint64_t new_len) override;
  bool AnyDemoted(SpaceId space) const override;
  bool IsDemoted(SpaceId space, TokenRange range) const override;

 private:
  struct Origin {  // what a recurrent state is of that may not be that of the rows
    uint64_t end = 0;
    Digest provenance{};
  };

  absl::Status OwnTail();
  absl::Status AppendOne(Token token, bool drawn);
  void CutRows(uint64_t new_len);
  absl::Status CutKv(uint64_t new_len);
  absl::Status CutRecurrent(uint64_t new_len);
  void RefoldRows();
  void RememberOrigin();
  bool Covered(TokenRange range) const;
  void Touch(SpaceId space) { ++versions_[static_cast<uint32_t>(space)]; }
  SimInput InputAt(uint64_t position) const;

  SimBlockPool* pool_;
  std::vector<SimBlockRef> blocks_;   // null: all of its rows are demoted
  SimPoint point_ = SimStartPoint();  // its fold of rows is stale if rows_changed_
  SimPoint marked_;                   // see Mark
  bool rows_changed_ = false;
  uint64_t recurrent_length_ = 0;
  bool recurrent_missing_ = false;
  std::map<uint64_t, SimRecurrent> checkpoints_;  // at multiples of kSimBlockTokens
  std::optional<Origin> origin_;
  uint64_t versions_[2] = {1, 1};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SEQUENCE_H_
