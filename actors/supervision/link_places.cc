#include "actors/supervision/link_places.h"

#include <algorithm>

namespace superfluid {

std::optional<LinkId> LinkPlaces::AddNew(LinkId link) {
  std::optional<LinkId> gives_way;
  if (new_.size() >= limits_.new_links) {
    gives_way = *new_.begin();
    new_.erase(new_.begin());
  }
  new_.insert(link);
  return gives_way;
}

LinkPlaces::Admitted LinkPlaces::BecomeObserver(LinkId link, int64_t now_ns,
                                                const LastHeard& last_heard) {
  std::optional<LinkId> gives_way;
  if (observers_.size() >= limits_.observers) {
    const auto silent = std::min_element(
        observers_.begin(), observers_.end(),
        [&](LinkId left, LinkId right) { return last_heard(left) < last_heard(right); });
    if (silent == observers_.end() ||
        absl::Nanoseconds(now_ns - last_heard(*silent)) < limits_.observer_idle) {
      return {};
    }
    gives_way = *silent;
    observers_.erase(silent);
  }
  new_.erase(link);
  observers_.insert(link);
  return {.admitted = true, .gives_way = gives_way};
}

void LinkPlaces::Remove(LinkId link) {
  new_.erase(link);
  observers_.erase(link);
}

}  // namespace superfluid
