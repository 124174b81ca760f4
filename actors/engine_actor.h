#ifndef SUPERFLUID_ACTORS_ENGINE_ACTOR_H_
#define SUPERFLUID_ACTORS_ENGINE_ACTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/engine_actor_interface.h"
#include "actors/engine_progress.h"
#include "actors/ids.h"
#include "actors/job_queue.h"
#include "engine/engine.h"
#include "engine/thread_bound_engine.h"

namespace superfluid {

using EngineFactory = std::function<absl::StatusOr<std::unique_ptr<Engine>>()>;

struct EngineActorOptions {
  EngineFactory make_engine;                            // called once, on the actor's thread
  absl::Duration step_budget = absl::Milliseconds(10);  // of one micro-step
};

// The only actor that touches the engine, on a thread of its own.
//
// It works in micro-steps: one message RunMicroStep is one step of one transcription. Whatever
// arrived during a step (cancels first: they are urgent) is handled before the next one, since
// RunMicroStep is sent to the end of the mailbox. Which job steps is JobQueue's decision.
//
//   QueueTranscription --> waiting --(the engine has room)--> running --> TranscriptionEnded
//                             |                                  |
//                             +---------- cancelled -------------+--> TranscriptionEnded
//
// A job whose token is set is never stepped again: it is ended at the CancelJob message, or when it
// would have been its turn, whichever comes first.
class EngineActorState {
 public:
  static constexpr const char* name = "engine";

  explicit EngineActorState(EngineActor::pointer self);
  ~EngineActorState();

  void Start(EngineActorOptions options, std::shared_ptr<EngineProgress> progress);
  caf::result<EngineLoaded> OnLoad();
  void OnQueue(const QueueTranscription& request);
  void OnGrant(const GrantSegments& grant);
  void OnPushAudio(const PushAudio& push);
  void OnCancel(RequestKey key);
  StateCallDone OnStateCall(const RunStateCall& run) const;
  void OnAttachControl(const AttachControl& attach) { controls_[attach.link] = attach.control; }
  LinkReleased OnReleaseLink(const ReleaseLink& release);
  void OnMicroStep();
  void OnRetryStart();

 private:
  struct Job;
  class Collector;

  Job* Find(RequestKey key);
  void StartJob(RequestKey key);
  void StepJob(RequestKey key);
  void AfterStep(RequestKey key, const absl::StatusOr<StepOutcome>& outcome, int64_t step_ns);
  void EndJob(RequestKey key, const absl::Status& status);
  bool EndIfStopped(RequestKey key);
  void EndStoppedJobs();
  void UpdatePause(RequestKey key, const Job& job);
  bool HasRoomToStart() const;
  void ScheduleStep();
  void PublishLoad();
  int64_t Now() const;

  EngineActor::pointer self_;
  EngineActorOptions options_;
  std::shared_ptr<EngineProgress> progress_;
  std::unique_ptr<ThreadBoundEngine> engine_;
  std::map<RequestKey, Job> jobs_;
  std::optional<JobQueue> queue_;
  std::map<LinkId, std::shared_ptr<WorkerControl>> controls_;
  bool step_scheduled_ = false;
  bool engine_is_full_ = false;  // it refused a job for lack of room; cleared when a job ends
};

EngineActor::behavior_type EngineActorBehavior(EngineActor::stateful_pointer<EngineActorState> self,
                                               EngineActorOptions options,
                                               std::shared_ptr<EngineProgress> progress);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_ACTOR_H_
