#include "tools/superfluidd/fleet/request_actor.h"

#include <utility>

#include "tools/superfluidd/fleet/restart_policy.h"

namespace superfluid::daemon {
namespace {

int64_t DeadlineNs(int64_t now_ns, absl::Duration deadline) {
  constexpr absl::Duration kLongest = absl::Hours(24 * 365);
  return deadline > kLongest ? 0 : now_ns + absl::ToInt64Nanoseconds(deadline);
}

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

void RequestActorState::OnBegin() {
  if (phase_ == Phase::kEnded) return;
  const int64_t now_ns = compat::NowNs(self_);
  started_ = absl::Nanoseconds(now_ns);
  const SpeechRequest& request = *context_.request;
  compat::Send(self_, context_.scheduler,
               AdmitRequest{.waiting = {.number = context_.number,
                                        .tenant = request.tenant,
                                        .model = request.model,
                                        .cost = CostOf(request),
                                        .priority = request.priority,
                                        .deadline_ns = DeadlineNs(now_ns, request.deadline)},
                            .id = request.id,
                            .live = request.audio == nullptr,
                            .actor = caf::actor_cast<RequestActor>(self_)});
}

void RequestActorState::OnAdmitted() {
  if (phase_ != Phase::kAsking) return;
  phase_ = Phase::kWaiting;
  context_.listener->OnAdmitted();
}

void RequestActorState::OnRefused(const Refused& refused) {
  if (phase_ == Phase::kEnded) return;
  End({.status = refused.status,
       .message = refused.message,
       .param = refused.param,
       .retry_after = refused.retry_after});
}

void RequestActorState::OnAssigned(const WorkerAssigned& assigned) {
  if (phase_ != Phase::kWaiting) return;  // ended: its end frees the place
  phase_ = Phase::kRunning;
  link_ = assigned.link;
  ++figures_.attempts;
  figures_.worker = assigned.name;
  figures_.queued = since_start();
  self_->monitor(link_);
  compat::Send(self_, link_,
               StartJob{.number = context_.number,
                        .request = context_.request,
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
  if (phase_ != Phase::kRunning) return;
  self_->demonitor(link_.address());
  link_ = WorkerLink{};
  if (!cancelled_at_.has_value() &&
      MayRetry(ended.status, told_client_ || samples_sent_, figures_.attempts)) {
    phase_ = Phase::kWaiting;
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
  if (phase_ != Phase::kRunning || link_.address() != down.source) return;
  OnJobEnded(
      {.status = linkw::Status::kLinkClosed, .message = "the worker is gone", .result = nullptr});
}

// Tells the end, with the figures.
void RequestActorState::End(RequestOutcome outcome) {
  phase_ = Phase::kEnded;
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
  };
}

}  // namespace superfluid::daemon
