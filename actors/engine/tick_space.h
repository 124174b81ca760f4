#ifndef SUPERFLUID_ACTORS_ENGINE_TICK_SPACE_H_
#define SUPERFLUID_ACTORS_ENGINE_TICK_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/handles.h"
#include "engine/tick.h"
#include "shm/control.h"

namespace superfluid {

// Finds out whether a number occurs twice in a list, without allocating. Its table is never
// cleared: each list has an age, and a place of another age is free.
class TwiceFinder {
 public:
  // The most numbers of a list.
  static constexpr size_t kMostNumbers = kControlLanes;

  // REQUIRES: at most kMostNumbers numbers. Complexity: one pass if they ascend, as lanes mostly
  // do; the number of places for each at worst.
  bool AnyTwice(absl::Span<const uint64_t> numbers) {
    for (size_t i = 1; i < numbers.size(); ++i) {
      if (numbers[i - 1] >= numbers[i]) return AnyTwiceInTable(numbers);
    }
    return false;
  }

 private:
  static constexpr size_t kPlaceBits = 10;
  static constexpr size_t kPlaces = size_t{1} << kPlaceBits;
  static_assert(kPlaces >= 2 * kMostNumbers, "a search ends at a free place");

  struct Place {
    uint64_t number = 0;
    uint64_t age = 0;
  };

  bool AnyTwiceInTable(absl::Span<const uint64_t> numbers);

  std::vector<Place> places_;  // kPlaces, once there is a list that does not ascend
  uint64_t age_ = 0;
};

// The arrays of a tick, kept from one to the next so that a tick allocates none. Owned by who runs
// ticks; used by one TickRun at a time. Threads: the engine's.
struct TickSpace {
  // Larger ones are given back after their tick.
  static constexpr size_t kMostKeptTokens = size_t{64} << 10;

  struct Slot {  // a lane of the plan
    absl::Status status;
    size_t input_at = 0;  // of its tokens in `inputs`
    size_t input_count = 0;
    uint32_t emitted = 0;
    bool stop_seen = false;  // the engine was told that its stop bit is set
    size_t result = 0;       // its index in the engine's results; only if status is OK
  };

  std::vector<Slot> slots;
  std::vector<size_t> lanes;   // of the plan, that the engine runs
  std::vector<LaneWork> work;  // of `lanes`
  std::vector<Token> inputs;   // of all lanes, one after the other
  std::vector<Token> drawn;    // what the next slot of the out ring gets
  std::vector<uint64_t> numbers;
  TwiceFinder twice;

  // Drops what the tick before left, and makes room for one of so many lanes.
  void Begin(size_t lane_count);
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_TICK_SPACE_H_
