#include "tools/superfluidd/fleet/fleet_supervisor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "actors/runtime/printable.h"

namespace superfluid::daemon {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(500);
constexpr absl::Duration kReplacePatience = absl::Seconds(5);

bool IsHealthy(const linkw::Pong& pong) {
  return pong.engine_state == linkw::EngineState::kIdle ||
         pong.engine_state == linkw::EngineState::kBusy;
}

// A name as a value of the log: bare if it is a word, else quoted.
std::string LogValue(const std::string& name) {
  const bool is_word = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
  });
  return is_word && !name.empty() ? name : absl::StrCat("\"", Printable(name), "\"");
}

}  // namespace

void FleetSupervisorState::Start(FleetConfig config) {
  config_ = std::move(config);
  for (WorkerSpec& spec : config_.workers) {
    Slot& slot = slots_.emplace_back();
    slot.spec = std::move(spec);
  }
  self_->set_down_handler([this](const caf::down_msg& down) { OnLinkDown(down); });
}

void FleetSupervisorState::OnStart() {
  for (uint32_t index = 0; index < slots_.size(); ++index) StartSlot(index);
  compat::SendAfter(self_, self_, kTick, SupervisorTick{});
}

FleetSupervisorState::Slot* FleetSupervisorState::Find(const WorkerKey& key) {
  if (key.index >= slots_.size() || slots_[key.index].generation != key.generation) return nullptr;
  return &slots_[key.index];
}

void FleetSupervisorState::StartSlot(uint32_t index) {
  Slot& slot = slots_[index];
  slot.phase = Phase::kStarting;
  slot.replacing = false;
  slot.view.pong = {};
  slot.holder = std::make_shared<ProcessHolder>();
  const WorkerKey key = {.index = index, .generation = ++slot.generation};
  Log("worker.starting", slot, "");
  slot.link =
      compat::TrySpawn(*self_, compat::Placement::kDetached, WorkerLinkBehavior,
                       WorkerLinkConfig{.key = key,
                                        .spec = slot.spec,
                                        .supervisor = caf::actor_cast<FleetSupervisor>(self_),
                                        .holder = slot.holder});
  if (slot.link) {
    self_->monitor(slot.link);
  } else {
    NoteEnd(index, "no thread is left");
  }
}

void FleetSupervisorState::OnConnected(const WorkerConnected& connected) {
  Slot* slot = Find(connected.key);
  if (slot == nullptr || slot->phase != Phase::kStarting) return;
  slot->phase = Phase::kReady;
  slot->ready_ns = compat::NowNs(self_);
  slot->healthy = true;
  slot->view.pid = connected.pid;
  slot->view.places = connected.places;
  slot->view.engine = connected.engine;
  Log("worker.ready", *slot,
      absl::StrCat(" pid=", connected.pid, " places=", connected.places,
                   " engine=", LogValue(connected.engine)));
  compat::Send(self_, config_.scheduler,
               WorkerUp{.key = connected.key,
                        .name = slot->spec.name,
                        .model = slot->spec.model,
                        .places = connected.places,
                        .link = connected.link});
}

void FleetSupervisorState::OnEnded(const WorkerEnded& ended) {
  if (Find(ended.key) != nullptr) NoteEnd(ended.key.index, ended.reason);
}

// An actor that was broken by an exception has reported nothing.
void FleetSupervisorState::OnLinkDown(const caf::down_msg& down) {
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index].link && slots_[index].link.address() == down.source) {
      return NoteEnd(index, "its link broke");
    }
  }
}

void FleetSupervisorState::NoteEnd(uint32_t index, const std::string& reason) {
  Slot& slot = slots_[index];
  if (slot.phase == Phase::kWaiting || slot.phase == Phase::kEnded) return;
  const WorkerKey key = {.index = index, .generation = slot.generation};
  const bool was_ready = slot.phase == Phase::kReady;
  const absl::Duration lived =
      was_ready ? absl::Nanoseconds(compat::NowNs(self_) - slot.ready_ns) : absl::ZeroDuration();
  slot.link = WorkerLink{};
  slot.view.pid = 0;
  slot.view.last_end = reason;
  compat::Send(self_, config_.scheduler, WorkerDown{key});
  if (stopping_) {
    slot.phase = Phase::kEnded;
    Log("worker.ended", slot, absl::StrCat(" reason=\"", Printable(reason), "\""));
    return AnnounceStopped();
  }
  const absl::Duration pause = slot.replacing ? absl::ZeroDuration() : slot.policy.NextPause(lived);
  slot.phase = Phase::kWaiting;
  ++slot.view.restarts;
  Log("worker.ended", slot,
      absl::StrCat(" reason=\"", Printable(reason),
                   "\" restart_ms=", absl::ToInt64Milliseconds(pause)));
  compat::SendAfter(self_, self_, pause, RestartWorker{key});
}

void FleetSupervisorState::OnRestart(const WorkerKey& key) {
  Slot* slot = Find(key);
  if (slot == nullptr || slot->phase != Phase::kWaiting || stopping_) return;
  StartSlot(key.index);
}

void FleetSupervisorState::OnPonged(const WorkerPonged& ponged) {
  Slot* slot = Find(ponged.key);
  // One that starts says how far it has loaded, and is neither ready nor sick.
  if (slot != nullptr && slot->phase == Phase::kStarting) slot->view.pong = ponged.pong;
  if (slot == nullptr || slot->phase != Phase::kReady) return;
  slot->view.pong = ponged.pong;
  const bool healthy = IsHealthy(ponged.pong);
  if (healthy == slot->healthy) return;
  slot->healthy = healthy;
  Log(healthy ? "worker.recovered" : "worker.stalled", *slot, "");
  compat::Send(self_, config_.scheduler, WorkerHealth{ponged.key, healthy});
}

void FleetSupervisorState::OnTick() {
  for (const Slot& slot : slots_) {
    if (slot.phase == Phase::kReady) compat::Send(self_, slot.link, CheckWorker{});
  }
  ReplaceNext();
  compat::SendAfter(self_, self_, kTick, SupervisorTick{});
}

void FleetSupervisorState::OnDescribe(const DescribeFleet& describe) const {
  constexpr const char* kNames[] = {"starting", "ready", "waiting", "ended"};
  for (const Slot& slot : slots_) {
    WorkerView view = slot.view;
    view.name = slot.spec.name;
    view.model = slot.spec.model;
    view.state = kNames[static_cast<int>(slot.phase)];
    if (slot.phase == Phase::kReady && !slot.healthy) view.state = "stalled";
    const bool loads = view.pong.engine_state == linkw::EngineState::kLoading;
    if (slot.phase == Phase::kStarting && loads) view.state = "loading";
    describe.view->workers.push_back(std::move(view));
  }
  compat::Send(self_, config_.scheduler, describe);
}

// ---- Replacing and stopping

void FleetSupervisorState::OnReplace(const ReplaceWorkers& replace) {
  const size_t count = std::min(slots_.size(), replace.specs->size());
  for (size_t i = 0; i < count; ++i) {
    slots_[i].spec = (*replace.specs)[i];
    slots_[i].replacing = slots_[i].phase == Phase::kReady;
  }
  ReplaceNext();
}

// One after the other: the next when no worker is missing.
void FleetSupervisorState::ReplaceNext() {
  if (stopping_) return;
  const bool all_ready = std::all_of(slots_.begin(), slots_.end(),
                                     [](const Slot& slot) { return slot.phase == Phase::kReady; });
  const bool some_retiring = std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.replacing && !slot.healthy;
  });
  if (!all_ready || some_retiring) return;
  const auto next =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.replacing; });
  if (next == slots_.end()) return;
  next->healthy = false;
  const auto index = static_cast<uint32_t>(next - slots_.begin());
  Log("worker.replacing", *next, "");
  compat::Send(self_, config_.scheduler, WorkerDown{{index, next->generation}});
  compat::Send(self_, next->link, EndWorker{.patience = kReplacePatience, .when_idle = true});
}

void FleetSupervisorState::OnStop(const StopFleet& stop) {
  stopping_ = true;
  stopped_ = stop.done;
  for (Slot& slot : slots_) EndSlot(slot, {.patience = stop.patience, .when_idle = false});
  AnnounceStopped();
}

// One that still loads does not hear us.
void FleetSupervisorState::EndSlot(Slot& slot, const EndWorker& end) {
  if (slot.phase == Phase::kWaiting) slot.phase = Phase::kEnded;
  if (slot.phase == Phase::kStarting) slot.holder->Kill();
  if (slot.link) compat::Send(self_, slot.link, end);
}

void FleetSupervisorState::AnnounceStopped() {
  const bool all = std::all_of(slots_.begin(), slots_.end(),
                               [](const Slot& slot) { return slot.phase == Phase::kEnded; });
  if (stopping_ && all && stopped_) std::exchange(stopped_, nullptr)();
}

void FleetSupervisorState::Log(const char* event, const Slot& slot,
                               const std::string& details) const {
  config_.log(event, absl::StrCat("worker=", slot.spec.name, " model=", LogValue(slot.spec.model),
                                  details));
}

FleetSupervisor::behavior_type FleetSupervisorBehavior(
    FleetSupervisor::stateful_pointer<FleetSupervisorState> self, FleetConfig config) {
  self->state.Start(std::move(config));
  return {
      [self](const StartFleet&) { self->state.OnStart(); },
      [self](const WorkerConnected& connected) { self->state.OnConnected(connected); },
      [self](const WorkerEnded& ended) { self->state.OnEnded(ended); },
      [self](const WorkerPonged& ponged) { self->state.OnPonged(ponged); },
      [self](const RestartWorker& restart) { self->state.OnRestart(restart.key); },
      [self](const SupervisorTick&) { self->state.OnTick(); },
      [self](const DescribeFleet& describe) { self->state.OnDescribe(describe); },
      [self](const ReplaceWorkers& replace) { self->state.OnReplace(replace); },
      [self](const StopFleet& stop) { self->state.OnStop(stop); },
  };
}

}  // namespace superfluid::daemon
