#include "engine/cache/lane_tags.h"

#include <cstddef>

namespace superfluid {
namespace {

constexpr size_t kMaxLaneTags = 65536;

}  // namespace

void LaneTags::Set(LaneTag tag, SequenceHandle sequence) {
  Lane& lane = lanes_[tag];
  by_age_.erase(lane.since);
  lane = {sequence, ++clock_};
  by_age_.emplace(lane.since, tag);
  if (lanes_.size() <= kMaxLaneTags) return;
  lanes_.erase(by_age_.begin()->second);
  by_age_.erase(by_age_.begin());
}

std::optional<SequenceHandle> LaneTags::Find(LaneTag tag) const {
  const auto found = lanes_.find(tag);
  if (found == lanes_.end()) return std::nullopt;
  return found->second.sequence;
}

void LaneTags::Clear() {
  lanes_.clear();
  by_age_.clear();
}

}  // namespace superfluid
