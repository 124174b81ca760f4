#ifndef SUPERFLUID_ENGINE_GENERATION_SEQUENCE_BOOK_H_
#define SUPERFLUID_ENGINE_GENERATION_SEQUENCE_BOOK_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/cache/lane_tags.h"
#include "engine/generation/session_sequence.h"
#include "engine/handles.h"
#include "engine/sampling/handle_source.h"

namespace superfluid {

// The sequences that exist, and which lane last worked on which. Threads: one.
class SequenceBook {
 public:
  using Maker = std::function<std::unique_ptr<SessionSequence>(AdapterRef adapter)>;
  using Sequences = std::map<SequenceHandle, std::unique_ptr<SessionSequence>>;

  SequenceBook(HandleSource& handles, size_t limit, Maker make)
      : handles_(handles), limit_(limit), make_(std::move(make)) {}

  // ResourceExhausted: `limit` sequences exist.
  absl::StatusOr<SequenceHandle> Create(AdapterRef adapter);
  // NotFound; FailedPrecondition: part of the parent is demoted; ResourceExhausted.
  absl::StatusOr<SequenceHandle> Fork(SequenceHandle parent);
  absl::Status Free(SequenceHandle handle);  // NotFound
  void Clear();

  // NotFound. Valid until the sequence is freed.
  absl::StatusOr<SessionSequence*> Find(SequenceHandle handle) const;
  const Sequences& all() const { return sequences_; }

  void SetLane(LaneTag tag, SequenceHandle sequence) { lanes_.Set(tag, sequence); }
  absl::StatusOr<SequenceHandle> LaneSequence(LaneTag tag) const;  // NotFound

 private:
  absl::Status CheckRoom() const;
  SequenceHandle Add(std::unique_ptr<SessionSequence> sequence);

  HandleSource& handles_;
  const size_t limit_;
  const Maker make_;
  Sequences sequences_;
  LaneTags lanes_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SEQUENCE_BOOK_H_
