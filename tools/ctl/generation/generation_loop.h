#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_LOOP_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_LOOP_H_

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/base/patience.h"
#include "tools/ctl/generation/generation.h"

namespace superfluid::ctl {

// Takes a plan from its prompt to its last token: the prompt in chunks, then tick after tick with
// the lanes that are not finished. Tokens are told as the worker emits them; what it dropped of
// that comes from the out ring at the tick's end, so none is missing.
//
// Threads: Run on one; Stop on any. Lifetime: everything given to it must outlive it.
class GenerationLoop {
 public:
  // `patience`: how long a tick may be silent before the worker is asked whether it works (see
  // Patience), and how long it may take to answer a stop.
  GenerationLoop(linkw::LinkClient& client, linkw::DriverRings& rings, GenerationPlan plan,
                 absl::Duration patience, GenerationListener& listener);

  // To the end, or until it is stopped. The outcome has what was drawn by then whatever happened.
  GenerationOutcome Run();

  // Sets the lanes' stop bits: the worker ends the running tick within a micro-step, and no other
  // follows. Takes no lock that Run holds while it waits. Idempotent.
  void Stop();

 private:
  struct TickShape {
    linkw::LaneKind kind = linkw::LaneKind::kDecode;
    absl::Span<const linkw::Token> input;
    uint32_t max_tokens = 0;
  };

  absl::Status RunAll();
  absl::Status RunTick(const TickShape& shape);
  absl::StatusOr<linkw::TickPlan> MakePlan(const TickShape& shape);
  void SetDraw(size_t number, linkw::Lane& lane) const;
  absl::Status Follow(linkw::ReplyStream& answers);
  absl::StatusOr<linkw::WorkerMessage> NextAnswer(linkw::ReplyStream& answers);
  void OnEmit(const linkw::TickEmit& emit);
  absl::Status OnResult(const linkw::TickResult& result);
  absl::Status OnLane(const linkw::LaneEvent& event);
  absl::Status TakeTokens(size_t lane, const linkw::TokenSpan& out);
  void Tell(size_t lane, absl::Span<const linkw::Token> tokens);
  void EndOpenLanes();
  bool IsOpen(size_t lane) const;
  bool AnyOpen() const;
  uint32_t TokensLeft() const;

  linkw::LinkClient& client_;
  linkw::DriverRings& rings_;
  const GenerationPlan plan_;
  Patience patience_;
  GenerationListener& listener_;
  GenerationOutcome outcome_;
  absl::Duration started_at_;
  std::vector<size_t> drawn_before_;  // of each lane, at the running tick's start

  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::optional<absl::Duration> stopped_at_;  // guarded by mutex_; on the monotonic clock
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_LOOP_H_
