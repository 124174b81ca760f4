#ifndef SUPERFLUID_ACTORS_TURN_POLICY_H_
#define SUPERFLUID_ACTORS_TURN_POLICY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace superfluid {

enum class Turn : uint8_t { kTick, kCall, kOp, kTranscription };
inline constexpr size_t kTurns = 4;

// Decides which kind of work takes the engine's next micro-step.
//
// Ticks first, but never two in a row while anything else is ready: so a tick waits for one
// micro-step at most, and a daemon that always has the next tick queued starves nobody. Among the
// others the one that was served longest ago goes next. Threads: one.
class TurnPolicy {
 public:
  using Ready = std::array<bool, kTurns>;  // by Turn

  // Nullopt if nothing is ready. What it returns counts as served.
  std::optional<Turn> Next(const Ready& ready) {
    const std::optional<Turn> other = LongestAgo(ready);
    std::optional<Turn> next = other;
    if (ready[kTick] && (!last_was_tick_ || !other)) next = Turn::kTick;
    if (!next) return next;
    last_was_tick_ = *next == Turn::kTick;
    served_.at(static_cast<size_t>(*next)) = ++turns_;
    return next;
  }

 private:
  static constexpr auto kTick = static_cast<size_t>(Turn::kTick);

  std::optional<Turn> LongestAgo(const Ready& ready) const {
    std::optional<Turn> best;
    for (size_t i = kTick + 1; i < kTurns; ++i) {
      if (!ready.at(i)) continue;
      if (!best || served_.at(i) < served_.at(static_cast<size_t>(*best))) {
        best = static_cast<Turn>(i);
      }
    }
    return best;
  }

  std::array<uint64_t, kTurns> served_{};  // when each was last served, in turns
  uint64_t turns_ = 0;
  bool last_was_tick_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_TURN_POLICY_H_
