#include "engine/sim/sim_sequences.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

absl::Status NoSequence(SequenceHandle handle) {
  return absl::NotFoundError(absl::StrCat("no sequence ", static_cast<uint64_t>(handle)));
}

}  // namespace

absl::StatusOr<SequenceHandle> SimSequences::Add(std::unique_ptr<SimSequence> sequence) {
  if (sequences_.size() >= limit_) {
    return absl::ResourceExhaustedError(absl::StrCat("there are ", limit_, " sequences already"));
  }
  const auto handle = handles_.Next<SequenceHandle>();
  sequences_.emplace(handle, std::move(sequence));
  return handle;
}

absl::StatusOr<SequenceHandle> SimSequences::Create(SimAdapterRef adapter) {
  return Add(std::make_unique<SimSequence>(pool_, adapter));
}

absl::StatusOr<SequenceHandle> SimSequences::Fork(SequenceHandle parent) {
  absl::StatusOr<SimSequence*> found = Find(parent);
  if (!found.ok()) return found.status();
  if ((*found)->IsMissing()) {
    return absl::FailedPreconditionError("part of the parent's state is not on the device");
  }
  return Add(std::make_unique<SimSequence>(**found));
}

absl::Status SimSequences::Free(SequenceHandle handle) {
  return sequences_.erase(handle) == 1 ? absl::OkStatus() : NoSequence(handle);
}

void SimSequences::Clear() {
  sequences_.clear();
  lanes_.Clear();
}

absl::StatusOr<SimSequence*> SimSequences::Find(SequenceHandle handle) const {
  const auto found = sequences_.find(handle);
  if (found == sequences_.end()) return NoSequence(handle);
  return found->second.get();
}

absl::StatusOr<SequenceHandle> SimSequences::LaneSequence(LaneTag tag) const {
  const std::optional<SequenceHandle> found = lanes_.Find(tag);
  if (!found.has_value() || !sequences_.contains(*found)) {
    return absl::NotFoundError(absl::StrCat("lane ", static_cast<uint64_t>(tag),
                                            " has worked on no sequence that exists"));
  }
  return *found;
}

}  // namespace superfluid
