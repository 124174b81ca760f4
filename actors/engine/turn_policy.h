#ifndef SUPERFLUID_ACTORS_ENGINE_TURN_POLICY_H_
#define SUPERFLUID_ACTORS_ENGINE_TURN_POLICY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace superfluid {

enum class Turn : uint8_t { kTick, kCall, kOp, kTranscription };
inline constexpr size_t kTurns = 4;

// Decides which kind of work takes the engine's next micro-step.
//
// A tick that comes alone goes first: one that became ready after the last tick ended and a
// decision was made without it, waits for one micro-step of other work at most. Ticks that queue
// (the next is ready when one ends) share the engine's *time* with the other kinds: each kind is
// charged the time of its micro-steps, and the ready kind with the least charge goes next; among
// equals the one served longest ago. So a short transcription behind a queue of long ticks waits
// for one of them, and a queued tick for as much other work as a tick took before, at most.
//
// Invariants:
//   1. A kind that becomes ready is charged at least what the least charged ready kind was at the
//      decision before: it has no arrears of longer ago.
//   2. A ready kind is charged at most kMaxOwedNs more than another: after one long micro-step it
//      waits for a second of each other kind, not for as long as the step took.
//   3. A tick that comes alone owes nothing for earlier ones that did.
//
// Threads: one.
class TurnPolicy {
 public:
  using Ready = std::array<bool, kTurns>;  // by Turn

  static constexpr int64_t kMaxOwedNs = 1'000'000'000;

  // Returns the kind to serve, which counts as served; nullopt if none is ready. Called once for
  // each micro-step.
  std::optional<Turn> Next(const Ready& ready);

  // Returns whether the next tick would count as queued. It is alone if Next finds nothing before
  // it comes: whoever has nothing to do asks once more while this is true.
  bool awaits_tick() const { return last_was_tick_; }

  // Adds the time that a micro-step of this kind took, at least a microsecond.
  void Charge(Turn turn, int64_t engine_ns);

 private:
  struct Kind {
    int64_t charged_ns = 0;
    uint64_t served = 0;  // when it was last served, in turns
    bool ready = false;   // at the last decision
  };

  void Admit(const Ready& ready);
  Turn LeastCharged() const;

  std::array<Kind, kTurns> kinds_;
  int64_t least_ns_ = 0;  // charge of a ready kind at the last decision; never goes back
  uint64_t turns_ = 0;
  bool last_was_tick_ = false;
  bool ticks_queue_ = false;  // the ready tick was ready when the one before it ended
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_TURN_POLICY_H_
