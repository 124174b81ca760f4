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
// Invariants:
//   1. Whether a request may begin is found out once: it is held against those in front, from the
//      last to the first, and the first that it conflicts with is noted. It is not held against
//      them again before that one is gone.
//   2. What was found free stays so: nothing comes in front of it later.
//
// Threads: one. Complexity: a decision walks over the requests in front of the first of each class
// that may begin. It compares keys only where a request is looked at for the first time, or where
// the one that it waited for has gone: in the order sent, twice for each request.
class WorkQueue {
 public:
  // REQUIRES: `key` is not in the queue.
  void AddReady(RequestKey key, WorkClass work, Footprint footprint);
  void AddReserved(RequestKey key, WorkClass work, Footprint footprint);
  void MakeReady(RequestKey key);
  void Begin(RequestKey key);
  // Unknown keys are ignored.
  void Remove(RequestKey key);

  // Returns an empty footprint, with the memory of one that was removed if there is one: a tick's
  // is some kilobytes.
  Footprint SpareFootprint() { return std::exchange(spare_, {}); }

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

  // Returns how many keys all decisions so far have looked at.
  uint64_t keys_compared() const { return keys_compared_; }

 private:
  enum class Phase : uint8_t { kReserved, kReady, kRunning };
  struct Item {
    RequestKey key;
    WorkClass work = WorkClass::kTick;
    Footprint footprint;
    Phase phase = Phase::kReady;
    uint64_t place = 0;  // in the order sent
    // What decisions found out; see the invariants.
    mutable uint64_t waits_for = 0;  // the place of a request in front; 0: it was not looked at
    mutable bool is_free = false;
  };
  using Items = std::list<Item>;

  // A request's footprint, for many others to be held against it.
  class Touched {
   public:
    explicit Touched(const Footprint& footprint);
    // Adds the number of keys that it looks at to `compared`.
    bool Conflicts(const Footprint& other, uint64_t& compared) const;

   private:
    static constexpr size_t kFew = 8;  // are compared one by one
    struct Keys {
      explicit Keys(const std::vector<WorkKey>& from);
      bool Contains(const WorkKey& key) const;

      const std::vector<WorkKey>& all;
      absl::flat_hash_set<WorkKey> many;  // the same, unless they are few
    };

    const bool barrier_;
    const Keys keys_;
    const Keys shared_;
  };

  bool MayBegin(Items::const_iterator item) const;
  Items::const_iterator Find(RequestKey key) const;
  Items::iterator Find(RequestKey key);

  Items items_;
  Footprint spare_;
  uint64_t last_place_ = 0;
  mutable std::vector<uint64_t> in_front_;  // of a decision: places, ascending
  mutable uint64_t keys_compared_ = 0;
  std::array<size_t, kWorkClasses> ready_{};  // of each class, that have not begun
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_WORK_QUEUE_H_
