#include "tools/superfluidd/fleet/request_actor.h"

#include <utility>

#include "tools/superfluidd/fleet/restart_policy.h"

namespace superfluid::daemon {
namespace {

double CostOf(const SpeechRequest& request) {
  if (request.audio == nullptr) return 1;
  return EstimateSeconds(request.audio->begin(), request.audio->size());
}

}  // namespace

void RequestActorState::Start(RequestContext context) {
  context_ = std::move(context);
  self_->set_down_handler([this](const caf::down_msg& down) { OnDown(down); });
}

absl::Duration RequestActorState::since_start() const {
  return absl::Nanoseconds(compat::NowNs(self_)) - started_;
}

int64_t RequestActorState::deadline_ns() const {
  constexpr absl::Duration kLongest = absl::Hours(24 * 365);
  const absl::Duration deadline = context_.request->deadline;
  return deadline > kLongest ? 0 : absl::ToInt64Nanoseconds(started_ + deadline);
}

void RequestActorState::OnBegin() {
  if (phase_ == Phase::kEnded) return;
  started_ = absl::Nanoseconds(compat::NowNs(self_));
  const SpeechRequest& request = *context_.request;
  compat::Send(self_, context_.scheduler,
               AdmitRequest{.waiting = {.number = context_.number,
                                        .tenant = request.tenant,
                                        .model = request.model,
                                        .cost = CostOf(request),
                                        .priority = request.priority,
                                        .deadline_ns = deadline_ns()},
                            .id = request.id,
                            .live = request.audio == nullptr,
                            .actor = caf::actor_cast<RequestActor>(self_)});
}

void RequestActorState::OnAdmitted() {
  if (phase_ != Phase::kAsking) return;
  phase_ = Phase::kWaiting;
  if (NeedsSamples()) WantSamples();
  context_.listener->OnAdmitted();
}

// ---- Samples of a recording that workers do not read

bool RequestActorState::NeedsSamples() const {
  const AudioBody* const recording = context_.request->audio.get();
  return recording != nullptr && decoded_.samples == nullptr && UploadDecoder::IsFor(*recording);
}

void RequestActorState::WantSamples() {
  compat::Send(self_, context_.desk,
               superfluid::daemon::WantSamples{.number = context_.number,
                                               .request = context_.request,
                                               .actor = caf::actor_cast<RequestActor>(self_)});
}

void RequestActorState::OnDecoded(const UploadDecoded& decoded) {
  if (phase_ != Phase::kWaiting && phase_ != Phase::kDecoding) return;
  if (decoded.upload.ok()) {
    decoded_ = *decoded.upload;
    if (phase_ == Phase::kDecoding) StartOnWorker();
    return;
  }
  const absl::Status status = decoded.upload.status();
  const linkw::Status wire = linkw::FromAbsl(status);
  const bool is_recording = wire == linkw::Status::kInvalidArgument ||
                            wire == linkw::Status::kTooLarge || wire == linkw::Status::kUnsupported;
  const JobEnded ended = {.status = wire,
                          .message = std::string(status.message()),
                          .result = nullptr,
                          .param = is_recording ? "file" : ""};
  if (phase_ == Phase::kDecoding) return EndAttempt(ended);
  if (wire == linkw::Status::kLinkClosed) return WantSamples();  // the decoder was killed
  End({.status = wire, .message = ended.message, .param = ended.param});
}

// ---- The worker

void RequestActorState::OnRefused(const Refused& refused) {
  if (phase_ == Phase::kEnded) return;
  End({.status = refused.status,
       .message = refused.message,
       .param = refused.param,
       .retry_after = refused.retry_after});
}

void RequestActorState::OnAssigned(const WorkerAssigned& assigned) {
  if (phase_ != Phase::kWaiting) return;  // ended: its end frees the place
  link_ = assigned.link;
  ++figures_.attempts;
  figures_.worker = assigned.name;
  figures_.queued = since_start();
  self_->monitor(link_);
  if (!NeedsSamples()) return StartOnWorker();
  phase_ = Phase::kDecoding;
  compat::Send(self_, context_.desk,
               NeedSamples{.number = context_.number, .deadline_ns = deadline_ns()});
}

void RequestActorState::StartOnWorker() {
  phase_ = Phase::kRunning;
  compat::Send(self_, link_,
               StartJob{.number = context_.number,
                        .request = context_.request,
                        .decoded = decoded_,
                        .deadline = context_.request->deadline - since_start(),
                        .actor = caf::actor_cast<RequestActor>(self_)});
  while (!samples_.empty()) {
    samples_sent_ = true;
    compat::Send(self_, link_,
                 PushJobSamples{context_.number, samples_.front().samples, samples_.front().end});
    samples_.pop_front();
  }
}

void RequestActorState::OnCancel(CancelCause cause) {
  if (phase_ == Phase::kEnded || cancelled_at_.has_value()) return;
  cancelled_at_ = since_start();
  figures_.cause = cause;
  if (phase_ == Phase::kRunning)
    return compat::SendUrgent(self_, link_, CancelJob{context_.number});
  const bool late = cause == CancelCause::kDeadline;
  End({.status = late ? linkw::Status::kDeadlineExceeded : linkw::Status::kCancelled,
       .message = late ? "the deadline passed while the request waited for a worker" : ""});
}

void RequestActorState::OnSamples(const PushSamples& samples) {
  if (phase_ == Phase::kEnded) return;
  if (phase_ != Phase::kRunning) return samples_.push_back(samples);
  samples_sent_ = true;
  compat::Send(self_, link_, PushJobSamples{context_.number, samples.samples, samples.end});
}

void RequestActorState::OnSegment(const JobSegment& segment) {
  if (phase_ != Phase::kRunning || cancelled_at_.has_value()) return;
  told_client_ = true;
  if (!figures_.first_segment.has_value()) figures_.first_segment = since_start();
  context_.listener->OnSegment(*segment.segment);
}

void RequestActorState::OnAudio(int64_t audio_ms) {
  if (phase_ == Phase::kRunning) context_.listener->OnAudio(audio_ms);
}

void RequestActorState::OnJobEnded(const JobEnded& ended) {
  if (phase_ == Phase::kRunning) EndAttempt(ended);
}

void RequestActorState::EndAttempt(const JobEnded& ended) {
  self_->demonitor(link_.address());
  link_ = WorkerLink{};
  if (!cancelled_at_.has_value() &&
      MayRetry(ended.status, told_client_ || samples_sent_, figures_.attempts)) {
    phase_ = Phase::kWaiting;
    if (NeedsSamples()) WantSamples();
    return compat::Send(self_, context_.scheduler, RequeueRequest{context_.number});
  }
  RequestOutcome outcome = {
      .status = EndStatus(ended), .message = ended.message, .param = ended.param};
  if (ended.result != nullptr) outcome.result = *ended.result;
  End(std::move(outcome));
}

// A worker that died of a cancelled request leaves it cancelled.
linkw::Status RequestActorState::EndStatus(const JobEnded& ended) const {
  const bool lost = ended.status == linkw::Status::kLinkClosed;
  if (lost && cancelled_at_.has_value()) return linkw::Status::kCancelled;
  return ended.status;
}

void RequestActorState::OnDown(const caf::down_msg& down) {
  const bool has_worker = phase_ == Phase::kRunning || phase_ == Phase::kDecoding;
  if (!has_worker || link_.address() != down.source) return;
  EndAttempt(
      {.status = linkw::Status::kLinkClosed, .message = "the worker is gone", .result = nullptr});
}

// Tells the end, with the figures.
void RequestActorState::End(RequestOutcome outcome) {
  phase_ = Phase::kEnded;
  if (NeedsSamples()) compat::Send(self_, context_.desk, ForgetSamples{context_.number});
  outcome.figures = figures_;
  outcome.figures.total = since_start();
  if (cancelled_at_.has_value()) outcome.figures.cancel = outcome.figures.total - *cancelled_at_;
  context_.listener->OnEnded(outcome);
  context_.listener.reset();
  self_->quit();
}

RequestActor::behavior_type RequestActorBehavior(
    RequestActor::stateful_pointer<RequestActorState> self, RequestContext context) {
  self->state.Start(std::move(context));
  return {
      [self](const BeginRequest&) { self->state.OnBegin(); },
      [self](const Admitted&) { self->state.OnAdmitted(); },
      [self](const Refused& refused) { self->state.OnRefused(refused); },
      [self](const WorkerAssigned& assigned) { self->state.OnAssigned(assigned); },
      [self](const CancelRequest& cancel) { self->state.OnCancel(cancel.cause); },
      [self](const PushSamples& samples) { self->state.OnSamples(samples); },
      [self](const JobSegment& segment) { self->state.OnSegment(segment); },
      [self](const JobAudio& audio) { self->state.OnAudio(audio.audio_ms); },
      [self](const JobEnded& ended) { self->state.OnJobEnded(ended); },
      [self](const UploadDecoded& decoded) { self->state.OnDecoded(decoded); },
  };
}

}  // namespace superfluid::daemon
