#include "actors/engine/engine_actor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "actors/engine/capabilities.h"
#include "actors/engine/engine_watch.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/status_error.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// How long to wait before an engine is asked again that had no room for a job.
constexpr absl::Duration kRetryStart = absl::Milliseconds(10);

// What an engine is given: the job keeps the audio itself, so that it can be offered again if the
// engine has no room for it yet.
class LentAudio : public AudioSource {
 public:
  explicit LentAudio(std::shared_ptr<JobAudio> audio) : audio_(std::move(audio)) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    absl::StatusOr<Block> block = audio_->source->Read(out);
    if (!block.ok()) audio_->error = block.status();
    return block;
  }
  std::optional<absl::Duration> TotalDuration() const override {
    return audio_->source->TotalDuration();
  }
  bool IsLive() const override { return audio_->source->IsLive(); }

 private:
  std::shared_ptr<JobAudio> audio_;
};

// Why a job ended early. What was wrong with its audio is no fault of the engine, and keeps its
// code whatever the engine makes of it.
absl::Status WhyEnded(const absl::Status& status, const JobAudio& audio) {
  if (audio.error.ok() || absl::IsCancelled(status)) return status;
  return linkw::MakeStatus(linkw::FromAbsl(SystemStatus(audio.error)), MessageOf(audio.error));
}

}  // namespace

// Passes the segments of one step on to the job's transcriber.
class EngineActorState::Collector : public SegmentSink {
 public:
  Collector(EngineActor::pointer self, Job& job) : self_(self), job_(job) {}

  void OnSegment(TranscribedSegment segment) override {
    --job_.credit;
    compat::Send(self_, job_.request.reply_to,
                 SegmentDecoded{
                     .segment = std::make_shared<const TranscribedSegment>(std::move(segment)),
                     .progress = job_.running->Progress(),
                 });
  }

 private:
  EngineActor::pointer self_;
  Job& job_;
};

EngineActorState::EngineActorState(EngineActor::pointer self) : self_(self) {}

EngineActorState::~EngineActorState() = default;

void EngineActorState::Start(EngineActorOptions options, std::shared_ptr<EngineProgress> progress) {
  options_ = std::move(options);
  progress_ = std::move(progress);
  queue_.emplace(options_.step_budget);
}

caf::result<EngineLoaded> EngineActorState::OnLoad() {
  const ThreadStep step;
  absl::StatusOr<std::unique_ptr<Engine>> engine = options_.make_engine();
  if (!engine.ok()) return ToError(engine.status());
  engine_ = std::make_unique<ThreadBoundEngine>(*std::move(engine));
  progress_->SetMemory((*engine_)->Memory());
  EngineLoaded loaded{
      .info = (*engine_)->info(),
      .capabilities_json = CompleteCapabilities((*engine_)->CapabilitiesJson(), (*engine_)->info(),
                                                generation() != nullptr)};
  loaded.context_tokens = ContextTokens(loaded.capabilities_json);
  context_ = {.listed = ListedCalls(loaded.capabilities_json)};
  if (const Generation* generates = generation(); generates != nullptr) {
    loaded.generates = true;
    loaded.spaces = generates->StateSpaces();
    loaded.strategies = generates->Strategies();
  }
  return loaded;
}

void EngineActorState::OnQueue(const QueueTranscription& request) {
  Job job{.request = request};
  job.credit = request.segment_credit;
  job.queued_ns = Now();
  job.starved = request.audio->live != nullptr;
  const auto [it, added] = jobs_.emplace(request.key, std::move(job));
  if (!added) return;
  queue_->Add(request.key, request.deadline_ns);
  UpdatePause(request.key, it->second);
  if (opening_.erase(request.key) == 0) self_->monitor(request.reply_to);
  if (EndIfStopped(request.key)) return;  // it was cancelled, or its link ended, on the way
  if (request.control_slot != 0) ScheduleStopCheck();
  ScheduleStep();
  PublishLoad();
}

void EngineActorState::OnGrant(const GrantSegments& grant) {
  Job* job = Find(grant.key);
  if (job == nullptr) return;
  job->credit += grant.count;
  UpdatePause(grant.key, *job);
  ScheduleStep();
}

void EngineActorState::OnPushAudio(const PushAudio& push) {
  if (push.pcm != nullptr) MakeRoomForAudio(push.key, push.pcm->size());
  Job* job = Find(push.key);
  if (job == nullptr || job->request.audio->live == nullptr) return;
  LiveAudio& live = *job->request.audio->live;
  if (push.pcm != nullptr && !push.pcm->empty()) {
    const absl::Status pushed = live.Push(absl::MakeConstSpan(
        reinterpret_cast<const std::byte*>(push.pcm->data()), push.pcm->size()));
    if (absl::IsResourceExhausted(pushed)) {
      return EndJob(push.key,
                    linkw::MakeStatus(linkw::Status::kOutOfMemory, std::string(pushed.message())));
    }
    if (!pushed.ok()) return EndJob(push.key, pushed);
  }
  if (push.end_of_stream) live.End();
  OnAudioArrived(push.key);
}

void EngineActorState::OnAudioArrived(RequestKey key) {
  Job* job = Find(key);
  if (job == nullptr) return;
  if (job->running == nullptr && job->starved) job->queued_ns = Now();  // it waits from now on
  job->starved = false;
  UpdatePause(key, *job);
  ScheduleStep();
}

// Where all live audio that is not transcribed would be too much, the job with the most of it ends:
// one that is fed faster than it is transcribed must not cost those that are not.
void EngineActorState::MakeRoomForAudio(RequestKey key, size_t bytes) {
  uint64_t waiting = 0;
  uint64_t most = 0;
  RequestKey largest;
  for (const auto& [other, job] : jobs_) {
    if (job.request.audio->live == nullptr) continue;
    const uint64_t unread = job.request.audio->live->unread_bytes() + (other == key ? bytes : 0);
    waiting += unread;
    if (unread <= most) continue;
    most = unread;
    largest = other;
  }
  if (waiting <= options_.live_audio_bytes) return;
  EndJob(largest, linkw::MakeStatus(linkw::Status::kOutOfMemory,
                                    absl::StrCat("more live audio than can wait: ", waiting,
                                                 " bytes are not transcribed yet")));
}

void EngineActorState::OnCancel(RequestKey key) {
  if (key.seq == 0) {
    EndStopped(key.link);
  } else if (Find(key) != nullptr) {
    EndIfStopped(key);
  } else {
    CancelWork(key);
  }
}

// Starts and steps alternate while both may be done: newcomers do not keep the others waiting.
void EngineActorState::StepTranscriptions() {
  const std::optional<RequestKey> step = queue_->NextToStep();
  started_last_ = CanStart() && !(started_last_ && step);
  if (started_last_) {
    StartJob(*queue_->NextToStart());
  } else if (step) {
    StepJob(*step);
  }
}

EngineActorState::Job* EngineActorState::Find(RequestKey key) {
  const auto it = jobs_.find(key);
  return it == jobs_.end() ? nullptr : &it->second;
}

void EngineActorState::StartJob(RequestKey key) {
  Job& job = *Find(key);
  if (!job.request.token->Begin()) return EndJob(key, absl::CancelledError("cancelled"));
  const int64_t begin_ns = Now();
  progress_->SetRequest(key);
  EngineStep step(
      *progress_, [this] { return Now(); }, begin_ns);
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> started = (*engine_)->StartTranscription(
      job.request.params, std::make_unique<LentAudio>(job.request.audio));
  const int64_t end_ns = step.End();
  if (started.ok()) {
    job.running = *std::move(started);
    PublishMemory();
    queue_->Start(key);
    queue_->Charge(key, end_ns - begin_ns);
    return UpdatePause(key, job);
  }
  if (!absl::IsResourceExhausted(started.status()) || !job.request.audio->error.ok()) {
    return EndJob(key, WhyEnded(started.status(), *job.request.audio));
  }
  job.request.token->Unbegin();  // it keeps its place, and its owner may end it while it waits
  engine_is_full_ = true;
  if (std::exchange(retry_scheduled_, true)) return;
  compat::SendAfter(self_, EngineActor(self_), kRetryStart, RetryStart{});
}

void EngineActorState::OnRetryStart() {
  retry_scheduled_ = false;
  engine_is_full_ = false;
  ScheduleStep();
}

void EngineActorState::StepJob(RequestKey key) {
  Job& job = *Find(key);
  // The time first, the token after it: so a step that began after the cancel cannot happen, and
  // would be seen (steps_after_cancel) if it did.
  const int64_t begin_ns = Now();
  if (job.request.token->cancelled()) return EndJob(key, absl::CancelledError("cancelled"));
  if (job.cost.steps == 0) job.cost.queue_ns = begin_ns - job.queued_ns;
  job.last_step_ns = begin_ns;
  ++job.cost.steps;
  Collector collector(self_, job);
  progress_->SetRequest(key);
  EngineStep step(
      *progress_, [this] { return Now(); }, begin_ns);
  absl::StatusOr<StepOutcome> outcome =
      job.running->Step(StepBudget{.target = options_.step_budget}, *job.request.token, collector);
  AfterStep(key, outcome, step.End() - begin_ns);
}

void EngineActorState::AfterStep(RequestKey key, const absl::StatusOr<StepOutcome>& outcome,
                                 int64_t step_ns) {
  Job& job = *Find(key);
  job.cost.engine_ns += step_ns;
  queue_->Charge(key, step_ns);
  if (!outcome.ok()) return EndJob(key, WhyEnded(outcome.status(), *job.request.audio));
  if (*outcome == StepOutcome::kDone) return EndJob(key, absl::OkStatus());
  job.starved = *outcome == StepOutcome::kWaitingForAudio;
  ReportProgress(job);
  UpdatePause(key, job);
}

void EngineActorState::ReportProgress(Job& job) {
  if (job.request.progress_ms == 0) return;
  const int64_t audio_ms = ProgressOf(*job.running).audio_ms;
  if (audio_ms - job.reported_audio_ms < int64_t{job.request.progress_ms}) return;
  job.reported_audio_ms = audio_ms;
  compat::Send(self_, job.request.reply_to, AudioConsumed{audio_ms});
}

TranscriptionProgress EngineActorState::ProgressOf(const TranscriptionJob& job) {
  const EngineVisit visit(*progress_, [this] { return Now(); });
  return job.Progress();
}

void EngineActorState::EndJobs(absl::Span<const RequestKey> keys, const absl::Status& status) {
  std::vector<std::pair<Transcriber, TranscriptionEnded>> endings;
  bool any_ran = false;
  for (const RequestKey& key : keys) {
    auto node = jobs_.extract(key);
    if (node.empty()) continue;
    queue_->Remove(key);
    any_ran |= node.mapped().running != nullptr;
    endings.emplace_back(node.mapped().request.reply_to, LetGo(node.mapped(), status));
  }
  if (endings.empty()) return;
  engine_is_full_ = false;
  if (any_ran) PublishMemory();
  PublishLoad();  // before the answers: whoever asks after one sees that the job is gone
  for (auto& [reply_to, ended] : endings) compat::Send(self_, reply_to, std::move(ended));
  ScheduleStep();
}

// Gives the engine's resources back before anybody is told.
TranscriptionEnded EngineActorState::LetGo(Job& job, const absl::Status& status) {
  TranscriptionEnded ended{
      .status = status, .remark = job.request.audio->source->Remark(), .cost = job.cost};
  if (job.running != nullptr) {
    const EngineVisit visit(*progress_, [this] { return Now(); });
    ended.progress = job.running->Progress();
    job.running.reset();
  }
  if (const int64_t cancelled_ns = job.request.token->cancelled_at_ns(); cancelled_ns != 0) {
    ended.cost.cancel_to_stop_ns = Now() - cancelled_ns;
    ended.cost.steps_after_cancel = job.last_step_ns > cancelled_ns ? 1 : 0;
  }
  progress_->AddTranscriptionDone();
  if (job.request.token->cancelled()) progress_->AddCancel();
  return ended;
}

void EngineActorState::UpdatePause(RequestKey key, const Job& job) {
  queue_->SetPaused(key, job.starved || job.credit <= 0);
}

void EngineActorState::PublishLoad() { progress_->SetJobs(queue_->started()); }

void EngineActorState::PublishMemory() {
  if (engine_ == nullptr) return;
  const EngineVisit visit(*progress_, [this] { return Now(); });
  progress_->SetMemory((*engine_)->Memory());
}

int64_t EngineActorState::Now() const { return compat::NowNs(self_); }

EngineActor::behavior_type EngineActorBehavior(EngineActor::stateful_pointer<EngineActorState> self,
                                               EngineActorOptions options,
                                               std::shared_ptr<EngineProgress> progress) {
  self->state.Start(std::move(options), std::move(progress));
  self->set_down_handler(
      [self](const caf::down_msg& down) { self->state.OnTranscriberGone(down.source); });
  return {
      [self](const CreateEngine&) { return self->state.OnLoad(); },
      [self](const QueueTranscription& request) { self->state.OnQueue(request); },
      [self](const GrantSegments& grant) { self->state.OnGrant(grant); },
      [self](const PushAudio& push) { self->state.OnPushAudio(push); },
      [self](const AudioArrived& arrived) { self->state.OnAudioArrived(arrived.key); },
      [self](const CancelJob& cancel) { self->state.OnCancel(cancel.key); },
      [self](const WatchStopWord& watch) { self->state.OnWatchStopWord(watch); },
      [self](const RunCall& call) { self->state.OnCall(call); },
      [self](const QueueTick& tick) { self->state.OnTick(tick); },
      [self](const ReserveCall& reserve) { self->state.OnReserveCall(reserve); },
      [self](const ReserveOp& reserve) { self->state.OnReserveOp(reserve); },
      [self](const DropOp& drop) { self->state.OnDropOp(drop.key); },
      [self](const RunOp& run) { self->state.OnRunOp(run); },
      [self](const OpReported& reported) { self->state.OnOpReported(reported); },
      [self](const AttachRings& attach) { self->state.OnAttachRings(attach); },
      [self](const PollOps&) { self->state.OnPollOps(); },
      [self](const AttachControl& attach) { self->state.OnAttachControl(attach); },
      [self](const ReleaseLink& release) { return self->state.OnReleaseLink(release); },
      [self](const RunMicroStep&) { self->state.OnMicroStep(); },
      [self](const RetryStart&) { self->state.OnRetryStart(); },
      [self](const CheckStopWords&) { self->state.OnCheckStopWords(); },
  };
}

}  // namespace superfluid
