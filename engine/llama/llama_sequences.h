#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCES_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCES_H_

#include <cstddef>
#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/cache/lane_tags.h"
#include "engine/handles.h"
#include "engine/llama/llama_kv.h"
#include "engine/llama/llama_sequence.h"
#include "engine/sampling/handle_source.h"

namespace superfluid {

// The sequences that exist, and which lane last worked on which. Threads: one.
class LlamaSequences {
 public:
  LlamaSequences(KvSequences& kv, HandleSource& handles, size_t limit)
      : kv_(kv), handles_(handles), limit_(limit) {}

  // ResourceExhausted: `limit` sequences exist.
  absl::StatusOr<SequenceHandle> Create(LlamaAdapterRef adapter);
  // NotFound; FailedPrecondition: part of the parent is demoted; ResourceExhausted.
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent);
  absl::Status Free(SequenceHandle handle);  // NotFound
  void Clear();

  // NotFound. Valid until the sequence is freed.
  absl::StatusOr<LlamaSequence*> Find(SequenceHandle handle) const;

  void SetLane(LaneTag tag, SequenceHandle sequence) { lanes_.Set(tag, sequence); }
  absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag) const;  // NotFound

  bool CheckInvariants() const;  // for tests

 private:
  absl::StatusOr<SequenceHandle> Add(std::unique_ptr<LlamaSequence> sequence);
  absl::Status CheckRoom() const;

  KvSequences& kv_;
  HandleSource& handles_;
  const size_t limit_;
  std::map<SequenceHandle, std::unique_ptr<LlamaSequence>> sequences_;
  LaneTags lanes_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCES_H_
