#include "engine/sim/sim_sequences.h"

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr size_t kMaxLaneTags = 65536;

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
  lanes_.clear();
  lanes_by_age_.clear();
}

absl::StatusOr<SimSequence*> SimSequences::Find(SequenceHandle handle) const {
  const auto found = sequences_.find(handle);
  if (found == sequences_.end()) return NoSequence(handle);
  return found->second.get();
}

void SimSequences::SetLane(LaneTag tag, SequenceHandle sequence) {
  Lane& lane = lanes_[tag];
  lanes_by_age_.erase(lane.since);
  lane = {sequence, ++lane_clock_};
  lanes_by_age_.emplace(lane.since, tag);
  if (lanes_.size() <= kMaxLaneTags) return;
  lanes_.erase(lanes_by_age_.begin()->second);
  lanes_by_age_.erase(lanes_by_age_.begin());
}

absl::StatusOr<SequenceHandle> SimSequences::LaneSequence(LaneTag tag) const {
  const auto found = lanes_.find(tag);
  if (found == lanes_.end() || !sequences_.contains(found->second.sequence)) {
    return absl::NotFoundError(absl::StrCat("lane ", static_cast<uint64_t>(tag),
                                            " has worked on no sequence that exists"));
  }
  return found->second.sequence;
}

}  // namespace superfluid
