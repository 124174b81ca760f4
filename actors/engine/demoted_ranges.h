#ifndef SUPERFLUID_ACTORS_ENGINE_DEMOTED_RANGES_H_
#define SUPERFLUID_ACTORS_ENGINE_DEMOTED_RANGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

  // Notes that a range is off the device, in place of what was known of the same range before.
  void Add(SequenceHandle sequence, const Entry& entry) {
    std::vector<Entry>& known = entries_[sequence];
    std::erase_if(known, [&](const Entry& old) {
      return old.space == entry.space && old.range == entry.range;
    });
    known.push_back(entry);
  }

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

  // Forgets what a trim of one space to `new_length` tokens cut off.
  void Trim(SequenceHandle sequence, SpaceId space, uint64_t new_length) {
    EraseIf(sequence, [&](const Entry& entry) {
      return entry.space == space && entry.range.end > new_length;
    });
  }

  // Forgets one space of a sequence: its state was replaced.
  void ForgetSpace(SequenceHandle sequence, SpaceId space) {
    EraseIf(sequence, [&](const Entry& entry) { return entry.space == space; });
  }

  // Forgets a sequence that is gone.
  void Forget(SequenceHandle sequence) { entries_.erase(sequence); }

  // Returns how many ranges of a sequence are off the device.
  size_t CountOf(SequenceHandle sequence) const {
    const auto it = entries_.find(sequence);
    return it == entries_.end() ? 0 : it->second.size();
  }

 private:
  template <class Predicate>
  void EraseIf(SequenceHandle sequence, Predicate predicate) {
    const auto it = entries_.find(sequence);
    if (it == entries_.end()) return;
    std::erase_if(it->second, predicate);
    if (it->second.empty()) entries_.erase(it);
  }

  std::map<SequenceHandle, std::vector<Entry>> entries_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_DEMOTED_RANGES_H_
