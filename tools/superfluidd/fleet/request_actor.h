#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_REQUEST_ACTOR_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_REQUEST_ACTOR_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "tools/superfluidd/fleet/fleet_messages.h"

namespace superfluid::daemon {

struct RequestContext {
  RequestNumber number{};
  std::shared_ptr<const SpeechRequest> request;
  std::shared_ptr<RequestListener> listener;
  Scheduler scheduler;
};

// One request, from its submission to its end.
//
//   asking --Admitted--> waiting --WorkerAssigned--> running --JobEnded--> ended
//     \--Refused-> ended    ^  \--CancelRequest-> ended |
//                           \------- no luck, retry ----/
//
// Invariants: 1. The listener hears of the end exactly once, and of nothing after it. 2. A request
// that was cancelled while it waited never reaches a worker. 3. The end of one that runs is told
// when the worker has let go of it (or is gone). 4. It is given to another worker only if the
// listener has heard of no segment and no live audio was sent.
//
// Pooled; never blocks. Its end frees its place with the Scheduler.
class RequestActorState {
 public:
  static constexpr const char* name = "request";

  explicit RequestActorState(RequestActor::pointer self) : self_(self) {}

  void Start(RequestContext context);
  void OnBegin();
  void OnAdmitted();
  void OnRefused(const Refused& refused);
  void OnAssigned(const WorkerAssigned& assigned);
  void OnCancel(CancelCause cause);
  void OnSamples(const PushSamples& samples);
  void OnSegment(const JobSegment& segment);
  void OnAudio(int64_t audio_ms);
  void OnJobEnded(const JobEnded& ended);
  void OnDown(const caf::down_msg& down);

 private:
  enum class Phase { kAsking, kWaiting, kRunning, kEnded };

  absl::Duration since_start() const;
  linkw::Status EndStatus(const JobEnded& ended) const;
  void End(RequestOutcome outcome);

  RequestActor::pointer self_;
  RequestContext context_;
  Phase phase_ = Phase::kAsking;
  WorkerLink link_;
  absl::Duration started_;
  std::optional<absl::Duration> cancelled_at_;
  bool told_client_ = false;
  bool samples_sent_ = false;
  std::deque<PushSamples> samples_;  // that no worker has yet
  RequestFigures figures_;
};

RequestActor::behavior_type RequestActorBehavior(
    RequestActor::stateful_pointer<RequestActorState> self, RequestContext context);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_REQUEST_ACTOR_H_
