#ifndef SUPERFLUID_ACTORS_ENGINE_ENGINE_ACTOR_H_
#define SUPERFLUID_ACTORS_ENGINE_ENGINE_ACTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "actors/engine/call_run.h"
#include "actors/engine/engine_link.h"
#include "actors/engine/job_queue.h"
#include "actors/engine/op_run.h"
#include "actors/engine/tick_space.h"
#include "actors/engine/turn_policy.h"
#include "actors/engine/work_queue.h"
#include "actors/messages/engine_actor_interface.h"
#include "actors/messages/engine_progress.h"
#include "actors/messages/ids.h"
#include "actors/messages/limits.h"
#include "engine/engine.h"
#include "engine/thread_bound_engine.h"

namespace superfluid {

using EngineFactory = std::function<absl::StatusOr<std::unique_ptr<Engine>>()>;

struct EngineActorOptions {
  EngineFactory make_engine;                            // called once, on the actor's thread
  absl::Duration step_budget = absl::Milliseconds(10);  // of one micro-step
  uint64_t live_audio_bytes = kLiveAudioBytes;          // of all jobs, not transcribed yet
};

// The only actor that touches the engine, alone on the hosted thread `engine` when it does.
//
// It works in micro-steps: one message RunMicroStep is one tick, one call, or one step of one state
// op or transcription. Whatever arrived during a step (cancels first: they are urgent) is handled
// before the next one, since RunMicroStep is sent to the end of the mailbox. TurnPolicy decides
// which kind of work steps, WorkQueue which tick, call or op may, JobQueue which transcription. A
// tick that finds nothing else to do is stepped at once.
//
//   QueueTranscription --> waiting --(audio, and the engine has room)--> running --> Ended
//   QueueTick -----------> waiting --> TickEmit*, TickResult
//   [ReserveCall --> reserved --] RunCall --> waiting --> CallDone
//   ReserveOp --> reserved --RunOp--> waiting --> running --> OpEnded
//
// What has its token set is never stepped again: it is ended at the CancelJob message, or when it
// would have been its turn, whichever comes first. What its owner has ended while it waited
// (RequestToken) has been answered, and is dropped then. A transcription whose transcriber is gone
// is ended at once.
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
  void OnAudioArrived(RequestKey key);
  void OnCancel(RequestKey key);
  void OnAttachControl(const AttachControl& attach) {
    LinkOf(attach.link).control = attach.control;
  }
  void OnRetryStart();

  // engine_actor_stops.cc
  void OnWatchStopWord(const WatchStopWord& watch);
  void OnCheckStopWords();
  void OnTranscriberGone(const caf::actor_addr& transcriber);

  // engine_actor_turns.cc
  void OnMicroStep();

  // engine_actor_work.cc
  void OnCall(const RunCall& call);
  void OnTick(const QueueTick& tick);
  void OnReserveCall(const ReserveCall& reserve);
  void OnReserveOp(const ReserveOp& reserve);
  void OnDropOp(RequestKey key);
  void OnRunOp(const RunOp& run);
  void OnOpReported(const OpReported& reported);
  void OnAttachRings(const AttachRings& attach);
  void OnPollOps();
  LinkReleased OnReleaseLink(const ReleaseLink& release);

 private:
  struct Job {
    QueueTranscription request;
    std::unique_ptr<TranscriptionJob> running;  // null while waiting
    int64_t credit = 0;
    bool starved = false;
    int64_t queued_ns = 0;
    int64_t last_step_ns = 0;  // when its last step began
    TranscriptionCost cost;
    int64_t reported_audio_ms = 0;
  };
  class Collector;
  struct Op {
    RunOp request;
    std::unique_ptr<OpRun> running;  // null while waiting
    bool idle = false;               // it had nothing to do when it was last stepped
    uint64_t stepped = 0;            // when it was last stepped, in op steps
  };

  // What may take the next micro-step.
  struct Choice {
    WorkQueue::Candidates work;
    std::optional<RequestKey> op;  // to begin, or to go on with
    TurnPolicy::Ready ready{};
  };

  Job* Find(RequestKey key);
  void StartJob(RequestKey key);
  void StepJob(RequestKey key);
  void AfterStep(RequestKey key, const absl::StatusOr<StepOutcome>& outcome, int64_t step_ns);
  void ReportProgress(Job& job);
  TranscriptionProgress ProgressOf(const TranscriptionJob& job);
  void EndJob(RequestKey key, const absl::Status& status) { EndJobs({&key, 1}, status); }
  void EndJobs(absl::Span<const RequestKey> keys, const absl::Status& status);
  TranscriptionEnded LetGo(Job& job, const absl::Status& status);
  void UpdatePause(RequestKey key, const Job& job);
  void PublishLoad();
  // After the engine did something: asking it costs more than counting what waits.
  void PublishMemory();
  int64_t Now() const;
  void MakeRoomForAudio(RequestKey key, size_t bytes);
  void StepTranscriptions();

  // engine_actor_stops.cc
  bool StopWordIsSet(RequestKey key, uint32_t control_slot) const;
  bool Stopped(RequestKey key, const Job& job);
  bool EndIfStopped(RequestKey key);
  void EndStoppedJobs();
  // Ends all jobs whose tokens are set, and what waits of a link of which that is true.
  void EndStopped(LinkId link);
  void StopOpening();
  void ScheduleStopCheck();

  // engine_actor_turns.cc
  void TakeTurn(Turn turn, const Choice& choice);
  Choice Choose() const;
  std::optional<RequestKey> NextRunningOp() const;
  bool HasRoomToStart() const;
  bool CanStart() const;
  bool MayHaveWork() const;
  bool IsAlone() const;
  // Sends RunMicroStep if something may be ready; whether it is, the micro-step finds out.
  void ScheduleStep();

  // engine_actor_work.cc
  EngineLink& LinkOf(LinkId link);
  Generation* generation() const;
  void RunTick(RequestKey key);
  void EndWaitingTick(const QueueTick& tick);
  void Beat(const QueueTick& tick, int64_t now_ns);
  void AnswerTick(const QueueTick& tick, linkw::TickResult result);
  RunCall TakeCall(RequestKey key);
  void RunCallNow(RequestKey key);
  bool CancelCall(RequestKey key);
  absl::StatusOr<std::unique_ptr<OpRun>> BeginOp(LinkId link, const RunOp& op);
  void StepOp(RequestKey key);
  void EndOp(RequestKey key, const absl::Status& status);
  bool CancelWork(RequestKey key);
  void DropWorkOf(LinkId link);
  void EndSession();
  void Reset();

  EngineActor::pointer self_;
  EngineActorOptions options_;
  std::shared_ptr<EngineProgress> progress_;
  std::unique_ptr<ThreadBoundEngine> engine_;
  std::map<RequestKey, Job> jobs_;
  std::map<RequestKey, WatchStopWord> opening_;  // transcriptions that may become jobs
  std::optional<JobQueue> queue_;
  std::map<LinkId, EngineLink> links_;
  CallContext context_;
  WorkQueue work_;
  TurnPolicy turns_;
  std::map<RequestKey, QueueTick> ticks_;
  TickSpace tick_space_;
  std::map<RequestKey, RunCall> calls_;
  std::map<RequestKey, Op> ops_;
  uint64_t op_steps_ = 0;
  bool poll_scheduled_ = false;
  bool step_scheduled_ = false;
  bool engine_is_full_ = false;  // it refused a job for lack of room; cleared when a job ends
  bool retry_scheduled_ = false;
  bool stop_check_scheduled_ = false;
  bool started_last_ = false;  // the last turn of transcriptions started one
};

EngineActor::behavior_type EngineActorBehavior(EngineActor::stateful_pointer<EngineActorState> self,
                                               EngineActorOptions options,
                                               std::shared_ptr<EngineProgress> progress);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_ENGINE_ACTOR_H_
