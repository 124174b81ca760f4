#ifndef SUPERFLUID_ACTORS_ENGINE_JOB_QUEUE_H_
#define SUPERFLUID_ACTORS_ENGINE_JOB_QUEUE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "actors/messages/ids.h"

namespace superfluid {

// Decides whose transcription takes the next micro-step, and which waiting one starts next.
//
// Fair first, urgent second: every job is charged the engine time of its steps, and the job with
// the least charge goes next; among jobs that are within `quantum` of the least, the earliest
// deadline wins. So a deadline helps a job to be early within its share, and never lets it take
// another's.
//
//   Add -> waiting --Start--> ready <--> paused (no credit, or no audio)
//             \________________ |__________/ --Remove--> gone
//
// Invariants, of the virtual time, which is the least charge that a ready job has had:
//   1. It never goes back.
//   2. A job that becomes ready is charged at least the virtual time: it has a share of what comes,
//      and no arrears of the time in which it waited, was paused or did not exist.
//   3. No job is charged more than the virtual time, `quantum` and its longest step: it owes others
//      no more than that, however long it was alone.
//
// Waiting jobs start in the order of deadline, then of arrival, but a job that kMaxOvertaken later
// ones have overtaken goes before all others. A waiting job that is paused does not start.
//
// Threads: one. Complexity: O(number of jobs) a decision; there are at most a few hundred.
class JobQueue {
 public:
  static constexpr int kMaxOvertaken = 8;

  explicit JobQueue(absl::Duration quantum);

  // Adds a waiting job. `deadline_ns`: monotonic; 0 means none.
  void Add(RequestKey key, int64_t deadline_ns);
  void Remove(RequestKey key);
  bool Contains(RequestKey key) const { return jobs_.contains(key); }

  // Lets a waiting job be stepped.
  void Start(RequestKey key);
  // Says whether the job has nothing to do for now, waiting or started.
  void SetPaused(RequestKey key, bool paused);
  // Adds the engine time of a step, or of the start, to the charge of a started job.
  void Charge(RequestKey key, int64_t engine_ns);

  // Returns the ready job that should step now; nullopt if none is ready.
  std::optional<RequestKey> NextToStep() const;
  // Returns the waiting job that should start now; nullopt if none waits and is not paused.
  std::optional<RequestKey> NextToStart() const;

  std::vector<RequestKey> KeysOf(LinkId link) const;
  // Returns the number of jobs that have not started, paused ones included.
  size_t waiting() const { return waiting_; }
  size_t started() const { return jobs_.size() - waiting_; }

 private:
  struct Job {
    int64_t deadline_ns = 0;
    uint64_t arrival = 0;
    int64_t charged_ns = 0;
    int overtaken = 0;  // times that a later job started before it
    bool started = false;
    bool paused = false;

    bool ready() const { return started && !paused; }
    bool startable() const { return !started && !paused; }
  };

  void BecomeReady(Job& job);
  std::optional<int64_t> LeastCharge() const;
  void AdvanceVirtualTime();

  const int64_t quantum_ns_;
  uint64_t arrivals_ = 0;
  size_t waiting_ = 0;
  int64_t virtual_ns_ = 0;
  std::map<RequestKey, Job> jobs_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_JOB_QUEUE_H_
