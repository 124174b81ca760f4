#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_SCHEDULER_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "tools/superfluidd/fleet/dispatch_queue.h"
#include "tools/superfluidd/fleet/fleet_messages.h"
#include "tools/superfluidd/fleet/worker_table.h"

namespace superfluid::daemon {

// A picture of the whole that anyone may look at while the actors go on. Thread-safe.
class SummaryBoard {
 public:
  FleetSummary Get() const {
    const std::lock_guard lock(mutex_);
    return summary_;
  }
  void Set(const FleetSummary& summary) {
    const std::lock_guard lock(mutex_);
    summary_ = summary;
  }

 private:
  mutable std::mutex mutex_;
  FleetSummary summary_;
};

struct SchedulerConfig {
  DispatchQueue::Limits queue;
  std::set<std::string> models;  // that are served
  size_t workers = 0;            // configured
  std::shared_ptr<SummaryBoard> board;
};

// Gives the open requests to the workers: bounded, fair, each worker no more than it has places
// for. The order is DispatchQueue's, the choice of a worker WorkerTable's. Pooled; never blocks.
class SchedulerState {
 public:
  static constexpr const char* name = "scheduler";

  explicit SchedulerState(Scheduler::pointer self) : self_(self) {}

  void Start(SchedulerConfig config);
  void OnAdmit(const AdmitRequest& admit);
  void OnRequeue(RequestNumber number);
  void OnRequestDown(const caf::down_msg& down);
  void OnWorkerUp(const WorkerUp& up);
  void OnWorkerDown(const WorkerKey& key);
  void OnHealth(const WorkerHealth& health);
  void OnServe(const ServeModels& serve);
  void OnCancelById(const CancelById& cancel);
  void OnDescribe(const DescribeFleet& describe) const;
  void OnDrain(const DrainFleet& drain);
  void OnCancelAll(CancelCause cause);
  void OnTick();

 private:
  struct Open {
    WaitingRequest waiting;
    std::string id;
    bool live = false;
    int64_t since_ns = 0;
    RequestActor actor;
    std::optional<WorkerKey> worker;  // that has it
  };

  std::optional<Refused> WhyRefused(const AdmitRequest& admit) const;
  bool IsServed(const std::string& model) const { return config_.models.count(model) > 0; }
  absl::Duration RetryAfter() const;
  void FreePlace(Open& open);
  void Dispatch();
  void AnnounceDrained();
  void UpdateBoard() const;

  Scheduler::pointer self_;
  SchedulerConfig config_;
  DispatchQueue queue_{DispatchQueue::Limits{}};
  WorkerTable<WorkerKey, WorkerLink> workers_;
  std::map<RequestNumber, Open> open_;
  std::map<std::string, RequestNumber> by_id_;
  std::map<caf::actor_addr, RequestNumber> by_address_;
  std::function<void()> drained_;  // to be called when nothing is open
  bool draining_ = false;
};

Scheduler::behavior_type SchedulerBehavior(Scheduler::stateful_pointer<SchedulerState> self,
                                           SchedulerConfig config);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_SCHEDULER_H_
