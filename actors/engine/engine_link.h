#ifndef SUPERFLUID_ACTORS_ENGINE_ENGINE_LINK_H_
#define SUPERFLUID_ACTORS_ENGINE_ENGINE_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "actors/engine/demoted_ranges.h"
#include "actors/engine/handle_book.h"
#include "actors/engine/tick_rings.h"
#include "protocol/messages/state_op_messages.h"
#include "shm/control.h"

namespace superfluid {

// What the engine's side keeps of one link. Threads: the engine's.
struct EngineLink {
  // Ops that a TickResult has not listed yet; of more than this only the newest.
  static constexpr size_t kMostReported = 256;

  std::optional<TickRings> rings;          // once all three are attached
  std::shared_ptr<WorkerControl> control;  // null: not attached
  HandleBook handles;
  DemotedRanges demoted;
  // Sequences that may have no tokens yet: their next input may take over a cached prefix.
  absl::flat_hash_set<uint64_t> maybe_empty;
  // TRIMs to no tokens that wait for their turn, by the sequence that they name.
  absl::flat_hash_map<uint64_t, uint32_t> emptying;
  std::vector<linkw::StateOpDone> reported_ops;

  // Returns whether the next input of a sequence, sent now, may be its first.
  bool MayBeEmpty(uint64_t sequence) const {
    return (!maybe_empty.empty() && maybe_empty.contains(sequence)) ||
           (!emptying.empty() && emptying.contains(sequence));
  }
  void BeginEmptying(uint64_t sequence) { ++emptying[sequence]; }
  void EndEmptying(uint64_t sequence) {
    const auto it = emptying.find(sequence);
    if (it != emptying.end() && --it->second == 0) emptying.erase(it);
  }

  bool LaneStopped(uint32_t stop_slot) const {
    return stop_slot != 0 && control != nullptr && control->LaneStopped(stop_slot - 1);
  }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_ENGINE_LINK_H_
