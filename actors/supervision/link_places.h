#ifndef SUPERFLUID_ACTORS_SUPERVISION_LINK_PLACES_H_
#define SUPERFLUID_ACTORS_SUPERVISION_LINK_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "absl/time/time.h"
#include "actors/messages/ids.h"
#include "actors/messages/limits.h"

namespace superfluid {

// How many links there may be besides the one that drives.
struct LinkPlaceLimits {
  size_t new_links = kMaxNewLinks;  // whose HELLO has not been accepted
  size_t observers = kMaxObservers;
  absl::Duration observer_idle = absl::Seconds(1);  // one silent for so long gives way to another
};

// Gives out the places of a worker's links. A link has a place among the observers once its HELLO
// was accepted; until then it is new, and new links keep nobody out: the oldest gives way. A driver
// needs no place here. Threads: one.
class LinkPlaces {
 public:
  // When a link last sent a frame, monotonic nanoseconds.
  using LastHeard = std::function<int64_t(LinkId link)>;

  explicit LinkPlaces(const LinkPlaceLimits& limits) : limits_(limits) {}

  // Adds a new link. Returns the one that has to go for it, if there are too many.
  std::optional<LinkId> AddNew(LinkId link);

  // Takes a link out of the new ones: it says that it wants to drive.
  void BecomeDriver(LinkId link) { new_.erase(link); }

  struct Admitted {
    bool admitted = false;
    std::optional<LinkId> gives_way;  // the observer that has to go for it
  };
  // Gives a new link a place among the observers, that of the longest silent one if need be. Not
  // admitted if all have been heard of lately.
  Admitted BecomeObserver(LinkId link, int64_t now_ns, const LastHeard& last_heard);

  // Frees the place of a link that has ended, or is about to.
  void Remove(LinkId link);

  size_t observers() const { return observers_.size(); }

 private:
  const LinkPlaceLimits limits_;
  std::set<LinkId> new_;  // ids grow: the oldest first
  std::set<LinkId> observers_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_SUPERVISION_LINK_PLACES_H_
