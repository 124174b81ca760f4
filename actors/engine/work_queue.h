#ifndef SUPERFLUID_ACTORS_ENGINE_WORK_QUEUE_H_
#define SUPERFLUID_ACTORS_ENGINE_WORK_QUEUE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "actors/messages/ids.h"
#include "engine/handles.h"

namespace superfluid {

enum class WorkClass : uint8_t { kTick, kCall, kOp };
inline constexpr size_t kWorkClasses = 3;

// Something that two requests may have in common, and must then use in the order sent.
struct WorkKey {
  enum class Kind : uint8_t { kSequence, kLane, kCache, kLeases, kGrammar, kLogitBias, kMedia };
  Kind kind = Kind::kSequence;
  uint64_t value = 0;

  static WorkKey Of(SequenceHandle sequence) {
    return {Kind::kSequence, static_cast<uint64_t>(sequence)};
  }
  static WorkKey Of(LaneTag tag) { return {Kind::kLane, static_cast<uint64_t>(tag)}; }
  // The published entries of the prefix cache, and the leases on them.
  static WorkKey Cache() { return {Kind::kCache, 0}; }
  static WorkKey Leases() { return {Kind::kLeases, 0}; }
  friend bool operator==(const WorkKey&, const WorkKey&) = default;
  template <class H>
  friend H AbslHashValue(H state, const WorkKey& key) {
    return H::combine(std::move(state), key.kind, key.value);
  }
};

// What a request touches.
struct Footprint {
  std::vector<WorkKey> keys;    // that it changes
  std::vector<WorkKey> shared;  // that it only uses, beside others that only use them
  bool barrier = false;         // everything: it waits for all before it, all after it wait for it
};

// The requests that wait for the engine or run in it, other than transcriptions, in the order in
// which the peer sent them.
//
//   Add --> [reserved --MakeReady-->] ready --Begin--> running --Remove--> gone
//
// A request may begin when nothing before it that is not gone touches what it touches, unless both
// only use it; so those that have nothing in common overtake each other, and the rest keep their
// order. A state op, or a call whose buffer or files are looked at first, is reserved when its
// request arrives, and becomes ready later: what is sent after it, and touches what it touches,
// waits for it all the same.
//
// Threads: one. Complexity: a decision looks at the keys of what is in front of the first request
// of each class that may begin, each once, whatever a peer sends.
class WorkQueue {
 public:
  // REQUIRES: `key` is not in the queue.
  void AddReady(RequestKey key, WorkClass work, Footprint footprint);
  void AddReserved(RequestKey key, WorkClass work, Footprint footprint);
  void MakeReady(RequestKey key);
  void Begin(RequestKey key);
  // Unknown keys are ignored.
  void Remove(RequestKey key);

  bool Contains(RequestKey key) const { return Find(key) != items_.end(); }
  bool Running(RequestKey key) const;

  // Returns whether anything has not begun and is not merely reserved.
  bool AnyReady() const;
  // Returns, of each class, the oldest request that may begin now.
  using Candidates = std::array<std::optional<RequestKey>, kWorkClasses>;
  Candidates Next() const;
  std::optional<RequestKey> Next(WorkClass work) const {
    return Next().at(static_cast<size_t>(work));
  }

  // In the order sent.
  std::vector<RequestKey> KeysOf(LinkId link) const;

 private:
  enum class Phase : uint8_t { kReserved, kReady, kRunning };
  struct Item {
    RequestKey key;
    WorkClass work = WorkClass::kTick;
    Footprint footprint;
    Phase phase = Phase::kReady;
  };
  using Items = std::list<Item>;

  // What is in use by requests further in front.
  struct InUse {
    absl::flat_hash_set<WorkKey> keys;
    absl::flat_hash_set<WorkKey> shared;
    bool something = false;
    bool everything = false;

    bool Conflicts(const Footprint& footprint) const;
    void Add(const Footprint& footprint);
  };

  Items::const_iterator Find(RequestKey key) const;
  Items::iterator Find(RequestKey key);

  Items items_;
  std::array<size_t, kWorkClasses> ready_{};  // of each class, that have not begun
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_WORK_QUEUE_H_
