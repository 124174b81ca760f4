#ifndef SUPERFLUID_ACTORS_ENGINE_TICK_RUN_H_
#define SUPERFLUID_ACTORS_ENGINE_TICK_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "actors/engine/engine_link.h"
#include "engine/cancel_token.h"
#include "engine/engine.h"
#include "engine/generation.h"
#include "protocol/messages/tick_messages.h"

namespace superfluid {

// Takes one tick from the peer's plan to the result that the peer gets: checks the plan, copies the
// inputs out of the ring, lets the engine run the lanes that have nothing wrong with them, checks
// what comes back, and writes tokens and logits into the rings.
//
// Threads: the engine's. Lifetime: one tick; everything passed in must outlive it.
class TickRun : private TickHost {
 public:
  using EmitSink = std::function<void(linkw::TickEmit)>;

  // `on_progress` is called whenever the engine shows that it gets on.
  TickRun(Generation& generation, const EngineInfo& info, EngineLink& link,
          const linkw::TickPlan& plan, const EmitSink& emit,
          const std::function<void()>& on_progress);
  TickRun(const TickRun&) = delete;
  TickRun& operator=(const TickRun&) = delete;
  ~TickRun() override = default;

  // The result but for memory counters, timings and op completions, which are the caller's.
  linkw::TickResult Run(const CancelToken& token);

  uint64_t tokens_in() const { return tokens_in_; }
  uint64_t tokens_out() const { return tokens_out_; }

 private:
  struct Slot {  // a lane of the plan
    absl::Status status;
    std::vector<Token> input;
    uint32_t emitted = 0;
    bool stop_seen = false;  // the engine was told that its stop bit is set
    size_t result = 0;       // its index in results_; only if status is OK
  };

  absl::Status CheckPlan() const;
  absl::Status ReadInputs();
  static absl::Status CheckTwice(std::vector<uint64_t> numbers, const char* what);
  absl::Status CheckLane(const linkw::Lane& lane, absl::Span<const Token> input) const;
  absl::Status CheckHandles(const linkw::Lane& lane) const;
  absl::Status CheckTokens(absl::Span<const Token> tokens) const;
  LaneWork MakeWork(size_t index) const;
  absl::Status RunLanes(const CancelToken& token);
  absl::Status CheckResult(size_t index, const LaneResult& result);
  linkw::LaneEvent MakeEvent(size_t index);
  linkw::LaneEvent WriteResult(size_t index, const LaneResult& result);

  bool LaneStopped(size_t lane) override;
  void Emit(size_t lane, absl::Span<const Token> tokens) override;

  Generation& generation_;
  const EngineInfo& info_;
  EngineLink& link_;
  const linkw::TickPlan& plan_;
  const EmitSink& emit_;
  const std::function<void()>& on_progress_;
  std::vector<Slot> slots_;
  std::vector<size_t> lanes_;        // of the plan, that the engine runs
  std::vector<LaneResult> results_;  // of lanes_
  bool stopped_otherwise_ = false;   // a lane was stopped, and not by its stop bit
  uint64_t tokens_in_ = 0;
  uint64_t tokens_out_ = 0;
};

// The most drawn tokens that a lane can have asked for.
uint32_t MostTokens(const linkw::Lane& lane);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_TICK_RUN_H_
