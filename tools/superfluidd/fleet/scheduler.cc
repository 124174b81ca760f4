#include "tools/superfluidd/fleet/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr absl::Duration kShortestRetry = absl::Seconds(1);
constexpr absl::Duration kLongestRetry = absl::Seconds(60);
// Seconds of audio that a place is taken to work off in a second, for Retry-After only.
constexpr double kAssumedSpeed = 5;

Refused NotServed(const std::string& model) {
  return {.status = linkw::Status::kNotFound,
          .message = absl::StrCat("the model '", model, "' is served no more"),
          .retry_after = absl::ZeroDuration(),
          .param = "model"};
}

}  // namespace

void SchedulerState::Start(SchedulerConfig config) {
  config_ = std::move(config);
  queue_.SetLimits(config_.queue);
  self_->set_down_handler([this](const caf::down_msg& down) { OnRequestDown(down); });
  UpdateBoard();
  compat::SendAfter(self_, self_, kTick, SchedulerTick{});
}

std::optional<Refused> SchedulerState::WhyRefused(const AdmitRequest& admit) const {
  if (draining_) {
    return Refused{linkw::Status::kDraining, "the daemon is shutting down", kShortestRetry};
  }
  if (!IsServed(admit.waiting.model)) return NotServed(admit.waiting.model);
  if (by_id_.count(admit.id) > 0) {
    return Refused{linkw::Status::kInvalidArgument, "a request with this id is open",
                   absl::ZeroDuration()};
  }
  if (admit.live && !workers_.CanServe(admit.waiting.model)) {
    return Refused{linkw::Status::kBusy, "no worker is free for live audio", RetryAfter()};
  }
  return std::nullopt;
}

void SchedulerState::OnAdmit(const AdmitRequest& admit) {
  std::optional<Refused> refused = WhyRefused(admit);
  if (!refused.has_value() && !queue_.Add(admit.waiting)) {
    refused = Refused{linkw::Status::kBusy, "too many requests wait already", RetryAfter()};
  }
  if (refused.has_value()) return compat::Send(self_, admit.actor, *std::move(refused));
  const RequestNumber number = admit.waiting.number;
  self_->monitor(admit.actor);
  by_id_.emplace(admit.id, number);
  by_address_.emplace(admit.actor.address(), number);
  open_.emplace(number, Open{.waiting = admit.waiting,
                             .id = admit.id,
                             .live = admit.live,
                             .since_ns = compat::NowNs(self_),
                             .actor = admit.actor,
                             .worker = std::nullopt});
  compat::Send(self_, admit.actor, Admitted{});
  Dispatch();
}

absl::Duration SchedulerState::RetryAfter() const {
  const double places = std::max<double>(workers_.places(), 1);
  const absl::Duration wait = absl::Seconds(1) * (queue_.waiting_cost() / kAssumedSpeed / places);
  return std::clamp(wait, kShortestRetry, kLongestRetry);
}

void SchedulerState::OnRequeue(RequestNumber number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  Open& open = found->second;
  FreePlace(open);
  if (IsServed(open.waiting.model)) {
    queue_.AddAgain(open.waiting);
  } else {
    compat::Send(self_, open.actor, NotServed(open.waiting.model));
  }
  Dispatch();
}

void SchedulerState::OnRequestDown(const caf::down_msg& down) {
  const auto found = by_address_.find(down.source);
  if (found == by_address_.end()) return;
  const RequestNumber number = found->second;
  by_address_.erase(found);
  const auto open = open_.find(number);
  queue_.Remove(number);
  FreePlace(open->second);
  by_id_.erase(open->second.id);
  open_.erase(open);
  Dispatch();
  AnnounceDrained();
}

void SchedulerState::FreePlace(Open& open) {
  if (!open.worker.has_value()) return;
  if (auto* worker = workers_.Find(*open.worker)) --worker->active;
  open.worker.reset();
}

void SchedulerState::OnWorkerUp(const WorkerUp& up) {
  workers_.Add(up.key, {.name = up.name,
                        .model = up.model,
                        .places = std::max<uint32_t>(up.places, 1),
                        .active = 0,
                        .healthy = true,
                        .link = up.link});
  Dispatch();
}

// Its requests hear of it from its link.
void SchedulerState::OnWorkerDown(const WorkerKey& key) {
  workers_.Remove(key);
  UpdateBoard();
}

void SchedulerState::OnHealth(const WorkerHealth& health) {
  if (auto* worker = workers_.Find(health.key)) worker->healthy = health.healthy;
  Dispatch();
}

// Requests that run are finished by the workers that have them.
void SchedulerState::OnServe(const ServeModels& serve) {
  config_.models = serve.names;
  for (const auto& [number, open] : open_) {
    if (IsServed(open.waiting.model) || !queue_.Remove(number)) continue;
    compat::Send(self_, open.actor, NotServed(open.waiting.model));
  }
  UpdateBoard();
}

void SchedulerState::OnCancelById(const CancelById& cancel) {
  const auto found = by_id_.find(cancel.id);
  const auto open = found == by_id_.end() ? open_.end() : open_.find(found->second);
  const bool theirs = open != open_.end() && open->second.waiting.tenant == cancel.tenant;
  if (theirs) compat::SendUrgent(self_, open->second.actor, CancelRequest{cancel.cause});
  cancel.done(theirs);
}

void SchedulerState::OnDescribe(const DescribeFleet& describe) const {
  FleetView& view = *describe.view;
  view.queued = queue_.size();
  view.active = open_.size() - queue_.size();
  view.draining = draining_;
  const int64_t now_ns = compat::NowNs(self_);
  for (const auto& [number, open] : open_) {
    RequestView& request = view.requests.emplace_back();
    request.id = open.id;
    request.model = open.waiting.model;
    request.age = absl::Nanoseconds(now_ns - open.since_ns);
    request.estimated_seconds = open.waiting.cost;
    request.live = open.live;
    if (!open.worker.has_value()) continue;
    for (WorkerView& worker : view.workers) {
      if (worker.name != absl::StrCat("worker-", open.worker->index)) continue;
      request.worker = worker.name;
      ++worker.active;
    }
  }
  describe.done(describe.view);
}

void SchedulerState::OnDrain(const DrainFleet& drain) {
  draining_ = true;
  drained_ = drain.done;
  UpdateBoard();
  AnnounceDrained();
}

void SchedulerState::AnnounceDrained() {
  if (!draining_ || !open_.empty() || !drained_) return;
  std::exchange(drained_, nullptr)();
}

void SchedulerState::OnCancelAll(CancelCause cause) {
  for (const auto& [number, open] : open_) {
    compat::SendUrgent(self_, open.actor, CancelRequest{cause});
  }
}

void SchedulerState::OnTick() {
  for (const RequestNumber number : queue_.TakeExpired(compat::NowNs(self_))) {
    const auto found = open_.find(number);
    if (found == open_.end()) continue;
    compat::Send(self_, found->second.actor, CancelRequest{CancelCause::kDeadline});
  }
  UpdateBoard();
  compat::SendAfter(self_, self_, kTick, SchedulerTick{});
}

void SchedulerState::Dispatch() {
  while (auto next = queue_.TakeNext(
             [this](const std::string& model) { return workers_.CanServe(model); })) {
    const WorkerKey key = *workers_.Choose(next->model);
    auto* worker = workers_.Find(key);
    Open& open = open_.at(next->number);
    open.worker = key;
    ++worker->active;
    compat::Send(self_, open.actor, WorkerAssigned{worker->link, worker->name});
  }
  UpdateBoard();
}

void SchedulerState::UpdateBoard() const {
  config_.board->Set({.workers = config_.workers,
                      .ready = workers_.healthy(),
                      .queued = queue_.size(),
                      .active = open_.size() - queue_.size(),
                      .queue_full = queue_.full(),
                      .retry_after = RetryAfter(),
                      .draining = draining_});
}

Scheduler::behavior_type SchedulerBehavior(Scheduler::stateful_pointer<SchedulerState> self,
                                           SchedulerConfig config) {
  self->state.Start(std::move(config));
  return {
      [self](const AdmitRequest& admit) { self->state.OnAdmit(admit); },
      [self](const RequeueRequest& again) { self->state.OnRequeue(again.number); },
      [self](const WorkerUp& up) { self->state.OnWorkerUp(up); },
      [self](const WorkerDown& down) { self->state.OnWorkerDown(down.key); },
      [self](const WorkerHealth& health) { self->state.OnHealth(health); },
      [self](const ServeModels& serve) { self->state.OnServe(serve); },
      [self](const CancelById& cancel) { self->state.OnCancelById(cancel); },
      [self](const DescribeFleet& describe) { self->state.OnDescribe(describe); },
      [self](const DrainFleet& drain) { self->state.OnDrain(drain); },
      [self](const CancelAll& cancel) { self->state.OnCancelAll(cancel.cause); },
      [self](const SchedulerTick&) { self->state.OnTick(); },
  };
}

}  // namespace superfluid::daemon
