#ifndef SUPERFLUID_ACTORS_JOB_QUEUE_H_
#define SUPERFLUID_ACTORS_JOB_QUEUE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "actors/ids.h"

namespace superfluid {

// Decides whose transcription takes the next micro-step, and which waiting one starts next.
//
// Fair first, urgent second: every job is charged the engine time of its steps, and the job with
// the least charge goes next; among jobs that are within `quantum` of the least, the earliest
// deadline wins. So a deadline helps a job to be early within its share, and never lets it take
// another's. A job that joins (or becomes ready again) starts at the least charge of the ready
// ones: it gets its share from now on, not arrears.
//
//   Add -> waiting --Start--> ready <--> paused (no credit, or no audio)
//             \________________ |__________/ --Remove--> gone
//
// Waiting jobs start in the order of deadline, then of arrival.
// Threads: one. Complexity: O(number of jobs) a decision; there are at most a few hundred.
class JobQueue {
 public:
  explicit JobQueue(absl::Duration quantum);

  // `deadline_ns`: monotonic; 0 means none.
  void Add(RequestKey key, int64_t deadline_ns);
  void Remove(RequestKey key);
  bool Contains(RequestKey key) const { return jobs_.contains(key); }

  // Moves a waiting job to ready.
  void Start(RequestKey key);
  void SetPaused(RequestKey key, bool paused);
  void Charge(RequestKey key, int64_t engine_ns);

  // The ready job that should step now; nullopt if none is ready.
  std::optional<RequestKey> NextToStep() const;
  // The waiting job that should start now; nullopt if none waits.
  std::optional<RequestKey> NextToStart() const;

  std::vector<RequestKey> KeysOf(LinkId link) const;
  size_t waiting() const { return waiting_; }
  size_t started() const { return jobs_.size() - waiting_; }

 private:
  enum class Phase { kWaiting, kReady, kPaused };
  struct Job {
    int64_t deadline_ns = 0;
    uint64_t arrival = 0;
    int64_t charged_ns = 0;
    Phase phase = Phase::kWaiting;
  };

  void BecomeReady(Job& job);
  std::optional<int64_t> LeastCharge() const;

  const int64_t quantum_ns_;
  uint64_t arrivals_ = 0;
  size_t waiting_ = 0;
  std::map<RequestKey, Job> jobs_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_JOB_QUEUE_H_
