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
  DecodeDesk desk;
};

// One request, from its submission to its end.
//
//   asking --Admitted--> waiting --WorkerAssigned--> running --JobEnded--> ended
//     \--Refused-> ended    ^  \--CancelRequest-> ended |
//                           \------- no luck, retry ----/
//
// A recording that workers do not read becomes samples meanwhile: from Admitted on, ahead of the
// worker, or between WorkerAssigned and running (decoding). One that cannot be decoded ends its
// request at once.
//
// Invariants: 1. The listener hears of the end exactly once, and of nothing after it. 2. A request
// that was cancelled while it waited never reaches a worker. 3. The end of one that runs is told
// when the worker has let go of it (or is gone); of one that is decoded, at once, and its decoder
// ends. 4. It is given to another worker only if the
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
  void OnDecoded(const UploadDecoded& decoded);
  void OnDown(const caf::down_msg& down);

 private:
  enum class Phase { kAsking, kWaiting, kDecoding, kRunning, kEnded };

  absl::Duration since_start() const;
  int64_t deadline_ns() const;  // 0: none
  bool NeedsSamples() const;
  void WantSamples();
  void StartOnWorker();
  // Ends the attempt: the request gets another, or is over.
  void EndAttempt(const JobEnded& ended);
  linkw::Status EndStatus(const JobEnded& ended) const;
  void End(RequestOutcome outcome);

  RequestActor::pointer self_;
  RequestContext context_;
  Phase phase_ = Phase::kAsking;
  WorkerLink link_;
  DecodedUpload decoded_;  // without samples: not yet, or it is not necessary
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
