#ifndef SUPERFLUID_ACTORS_ENGINE_TICK_RUN_H_
#define SUPERFLUID_ACTORS_ENGINE_TICK_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "actors/engine/engine_link.h"
#include "actors/engine/tick_space.h"
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
  TickRun(Generation& generation, const EngineInfo& info, EngineLink& link, TickSpace& space,
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
  absl::Status CheckPlan() const;
  absl::Status ReadInputs();
  // Sorts `numbers` if one of them occurs twice.
  absl::Status CheckTwice(std::vector<uint64_t>& numbers, const char* what) const;
  absl::Span<const Token> InputOf(const TickSpace::Slot& slot) const;
  void MakeWork(size_t index, LaneWork& work) const;
  absl::Status RunLanes(const CancelToken& token);
  absl::Status CheckResult(size_t index, const LaneResult& result);
  void MakeEvents(std::vector<linkw::LaneEvent>& events);
  void MakeEvent(size_t index, std::vector<linkw::LaneEvent>& events);
  void Draw(absl::Span<const Token> tokens, std::vector<linkw::LaneEvent>& events);
  void WriteDrawn(std::vector<linkw::LaneEvent>& events);
  void WriteResult(size_t index, const LaneResult& result, linkw::LaneEvent& event);

  bool LaneStopped(size_t lane) override;
  void Emit(size_t lane, absl::Span<const Token> tokens) override;

  Generation& generation_;
  const EngineInfo& info_;
  EngineLink& link_;
  TickSpace& space_;
  const linkw::TickPlan& plan_;
  const EmitSink& emit_;
  const std::function<void()>& on_progress_;
  std::vector<LaneResult> results_;  // of the lanes that the engine ran
  size_t events_written_ = 0;        // events, from the first, whose out spans are complete
  bool stopped_otherwise_ = false;   // a lane was stopped, and not by its stop bit
  uint64_t tokens_in_ = 0;
  uint64_t tokens_out_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_TICK_RUN_H_
