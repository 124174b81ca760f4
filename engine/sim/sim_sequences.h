#ifndef SUPERFLUID_ENGINE_SIM_SIM_SEQUENCES_H_
#define SUPERFLUID_ENGINE_SIM_SIM_SEQUENCES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/cache/lane_tags.h"
#include "engine/handles.h"
#include "engine/sampling/handle_source.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {

// The sequences that exist, and which lane last worked on which. Threads: one.
class SimSequences {
 public:
  SimSequences(SimBlockPool& pool, HandleSource& handles, size_t limit)
      : pool_(pool), handles_(handles), limit_(limit) {}

  // ResourceExhausted: `limit` sequences exist.
  absl::StatusOr<SequenceHandle> Create(SimAdapterRef adapter);
  // NotFound; FailedPrecondition: part of the parent is demoted; ResourceExhausted.
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent);
  absl::Status Free(SequenceHandle handle);  // NotFound
  void Clear();

  // NotFound. Valid until the sequence is freed.
  absl::StatusOr<SimSequence*> Find(SequenceHandle handle) const;

  void SetLane(LaneTag tag, SequenceHandle sequence) { lanes_.Set(tag, sequence); }
  absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag) const;  // NotFound

  const std::map<SequenceHandle, std::unique_ptr<SimSequence>>& all() const { return sequences_; }

 private:
  absl::StatusOr<SequenceHandle> Add(std::unique_ptr<SimSequence> sequence);

  SimBlockPool& pool_;
  HandleSource& handles_;
  const size_t limit_;
  std::map<SequenceHandle, std::unique_ptr<SimSequence>> sequences_;
  LaneTags lanes_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_SEQUENCES_H_
