#ifndef SUPERFLUID_ACTORS_ENGINE_DEMOTED_RANGES_H_
#define SUPERFLUID_ACTORS_ENGINE_DEMOTED_RANGES_H_

#include <algorithm>
#include <map>
#include <vector>

#include "engine/handles.h"

namespace superfluid {

// Which state of a link's sequences is off the device, and what it was computed from: a PROMOTE has
// to bring back exactly that. Threads: one.
class DemotedRanges {
 public:
  struct Entry {
    SpaceId space{};
    TokenRange range;
    Digest provenance{};
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  void Add(SequenceHandle sequence, const Entry& entry) { entries_[sequence].push_back(entry); }

  // Whether this range was demoted with another provenance. Nothing is known of one that was not
  // demoted; the engine says what is wrong with that.
  bool Contradicts(SequenceHandle sequence, const Entry& entry) const {
    const auto it = entries_.find(sequence);
    return it != entries_.end() &&
           std::any_of(it->second.begin(), it->second.end(), [&](const Entry& known) {
             return known.space == entry.space && known.range == entry.range &&
                    known.provenance != entry.provenance;
           });
  }

  // The range is back.
  void Remove(SequenceHandle sequence, const Entry& entry) {
    const auto it = entries_.find(sequence);
    if (it == entries_.end()) return;
    std::erase(it->second, entry);
    if (it->second.empty()) entries_.erase(it);
  }

  // The sequence is gone, or its state was replaced.
  void Forget(SequenceHandle sequence) { entries_.erase(sequence); }

 private:
  std::map<SequenceHandle, std::vector<Entry>> entries_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_DEMOTED_RANGES_H_
