#ifndef SUPERFLUID_ENGINE_CACHE_LANE_TAGS_H_
#define SUPERFLUID_ENGINE_CACHE_LANE_TAGS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "engine/handles.h"

namespace superfluid {

// Which lane last worked on which sequence. The peer chooses tags, so how many are remembered is
// bounded; the oldest go. Threads: one.
class LaneTags {
 public:
  void Set(LaneTag tag, SequenceHandle sequence);
  std::optional<SequenceHandle> Find(LaneTag tag) const;
  void Clear();

 private:
  struct Lane {
    SequenceHandle sequence{};
    uint64_t since = 0;
  };

  std::map<LaneTag, Lane> lanes_;
  std::map<uint64_t, LaneTag> by_age_;
  uint64_t clock_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CACHE_LANE_TAGS_H_
