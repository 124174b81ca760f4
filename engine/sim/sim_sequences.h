#ifndef SUPERFLUID_ENGINE_SIM_SIM_SEQUENCES_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SEQUENCES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/handles.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {

// Numbers that never come again; one source for all kinds of handles, so that a handle of one kind
// is never one of another.
class SimHandles {
 public:
  template <typename Handle>
  Handle Next() {
    return static_cast<Handle>(++last_);
  }

 private:
  uint64_t last_ = 0;
};

// The sequences that exist, and which lane last worked on which. Threads: one.
class SimSequences {
 public:
  SimSequences(SimBlockPool& pool, SimHandles& handles, size_t limit)
      : pool_(pool), handles_(handles), limit_(limit) {}

  // ResourceExhausted: `limit` sequences exist.
  absl::StatusOr<SequenceHandle> Create(SimAdapterRef adapter);
  // NotFound; FailedPrecondition: part of the parent is demoted; ResourceExhausted.
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent);
  absl::Status Free(SequenceHandle handle);  // NotFound
  void Clear();

  // NotFound. Valid until the sequence is freed.
  absl::StatusOr<SimSequence*> Find(SequenceHandle handle) const;

  void SetLane(LaneTag tag, SequenceHandle sequence);
  absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag) const;  // NotFound

  const std::map<SequenceHandle, std::unique_ptr<SimSequence>>& all() const { return sequences_; }

 private:
  struct Lane {
    SequenceHandle sequence{};
    uint64_t since = 0;
  };

  absl::StatusOr<SequenceHandle> Add(std::unique_ptr<SimSequence> sequence);

  SimBlockPool& pool_;
  SimHandles& handles_;
  const size_t limit_;
  std::map<SequenceHandle, std::unique_ptr<SimSequence>> sequences_;
  // The peer chooses tags, so how many are remembered is bounded; the oldest go.
  std::map<LaneTag, Lane> lanes_;
  std::map<uint64_t, LaneTag> lanes_by_age_;
  uint64_t lane_clock_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SEQUENCES_H_
