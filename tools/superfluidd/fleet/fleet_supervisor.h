#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_SUPERVISOR_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_SUPERVISOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/superfluidd/fleet/fleet_messages.h"
#include "tools/superfluidd/fleet/restart_policy.h"
#include "tools/superfluidd/fleet/worker_link.h"

namespace superfluid::daemon {

// Something about a worker that belongs into the log: "worker.ready", and the rest of the line.
using FleetLog = std::function<void(const char* event, const std::string& details)>;

struct FleetConfig {
  std::vector<WorkerSpec> workers;
  Scheduler scheduler;
  FleetLog log;
};

// Keeps a process running for every configured worker: starts it, asks how it is, starts it again
// after a pause when it ended (RestartPolicy), replaces it when the configuration changed.
//
//   starting --WorkerConnected--> ready --WorkerEnded--> waiting --RestartWorker--> starting
//
// Lives as long as the daemon. Pooled; never blocks: processes are their links' business.
class FleetSupervisorState {
 public:
  static constexpr const char* name = "fleet-supervisor";

  explicit FleetSupervisorState(FleetSupervisor::pointer self) : self_(self) {}

  void Start(FleetConfig config);
  void OnStart();
  void OnConnected(const WorkerConnected& connected);
  void OnEnded(const WorkerEnded& ended);
  void OnPonged(const WorkerPonged& ponged);
  void OnRestart(const WorkerKey& key);
  void OnTick();
  void OnDescribe(const DescribeFleet& describe) const;
  void OnReplace(const ReplaceWorkers& replace);
  void OnStop(const StopFleet& stop);
  void OnLinkDown(const caf::down_msg& down);

 private:
  enum class Phase { kStarting, kReady, kWaiting, kEnded };

  struct Slot {
    WorkerSpec spec;
    Phase phase = Phase::kWaiting;
    uint64_t generation = 0;
    WorkerLink link;
    std::shared_ptr<ProcessHolder> holder;
    RestartPolicy policy;
    int64_t ready_ns = 0;
    bool healthy = true;
    bool replacing = false;  // by `spec`, once it has ended
    WorkerView view;
  };

  Slot* Find(const WorkerKey& key);
  void StartSlot(uint32_t index);
  void EndSlot(Slot& slot, const EndWorker& end);
  void NoteEnd(uint32_t index, const std::string& reason);
  void ReplaceNext();
  void AnnounceStopped();
  void Log(const char* event, const Slot& slot, const std::string& details) const;

  FleetSupervisor::pointer self_;
  FleetConfig config_;
  std::vector<Slot> slots_;
  bool stopping_ = false;
  std::function<void()> stopped_;
};

FleetSupervisor::behavior_type FleetSupervisorBehavior(
    FleetSupervisor::stateful_pointer<FleetSupervisorState> self, FleetConfig config);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_SUPERVISOR_H_
