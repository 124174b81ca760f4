#include "actors/engine/job_queue.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace superfluid {
namespace {

// Orders "no deadline" last.
int64_t Urgency(int64_t deadline_ns) {
  return deadline_ns == 0 ? std::numeric_limits<int64_t>::max() : deadline_ns;
}

}  // namespace

JobQueue::JobQueue(absl::Duration quantum) : quantum_ns_(absl::ToInt64Nanoseconds(quantum)) {}

void JobQueue::Add(RequestKey key, int64_t deadline_ns) {
  const bool inserted =
      jobs_.emplace(key, Job{.deadline_ns = deadline_ns, .arrival = ++arrivals_}).second;
  if (inserted) ++waiting_;
}

void JobQueue::Remove(RequestKey key) {
  auto it = jobs_.find(key);
  if (it == jobs_.end()) return;
  if (!it->second.started) --waiting_;
  const bool was_ready = it->second.ready();
  jobs_.erase(it);
  if (was_ready) AdvanceVirtualTime();
}

void JobQueue::Start(RequestKey key) {
  auto it = jobs_.find(key);
  if (it == jobs_.end() || it->second.started) return;
  --waiting_;
  Job& job = it->second;
  job.started = true;
  for (auto& [other_key, other] : jobs_) {
    if (other.startable() && other.arrival < job.arrival) ++other.overtaken;
  }
  if (job.ready()) BecomeReady(job);
}

void JobQueue::SetPaused(RequestKey key, bool paused) {
  auto it = jobs_.find(key);
  if (it == jobs_.end() || it->second.paused == paused) return;
  it->second.paused = paused;
  if (it->second.ready()) {
    BecomeReady(it->second);
  } else {
    AdvanceVirtualTime();
  }
}

void JobQueue::Charge(RequestKey key, int64_t engine_ns) {
  auto it = jobs_.find(key);
  if (it == jobs_.end()) return;
  it->second.charged_ns += engine_ns;
  AdvanceVirtualTime();
}

std::optional<RequestKey> JobQueue::NextToStep() const {
  const std::optional<int64_t> least = LeastCharge();
  if (!least) return std::nullopt;
  std::optional<RequestKey> best;
  std::tuple<int64_t, int64_t, uint64_t> best_rank;
  for (const auto& [key, job] : jobs_) {
    if (!job.ready() || job.charged_ns > *least + quantum_ns_) continue;
    const std::tuple rank{Urgency(job.deadline_ns), job.charged_ns, job.arrival};
    if (!best || rank < best_rank) {
      best = key;
      best_rank = rank;
    }
  }
  return best;
}

std::optional<RequestKey> JobQueue::NextToStart() const {
  if (waiting_ == 0) return std::nullopt;
  std::optional<RequestKey> best;
  std::tuple<bool, int64_t, uint64_t> best_rank;
  for (const auto& [key, job] : jobs_) {
    if (!job.startable()) continue;
    const bool patient = job.overtaken < kMaxOvertaken;
    const std::tuple rank{patient, patient ? Urgency(job.deadline_ns) : 0, job.arrival};
    if (!best || rank < best_rank) {
      best = key;
      best_rank = rank;
    }
  }
  return best;
}

std::vector<RequestKey> JobQueue::KeysOf(LinkId link) const {
  std::vector<RequestKey> keys;
  for (const auto& [key, job] : jobs_) {
    if (key.link == link) keys.push_back(key);
  }
  return keys;
}

// Keeps invariant 2; invariant 3 follows, since only a job within `quantum` of the least steps.
void JobQueue::BecomeReady(Job& job) {
  job.charged_ns = std::max(job.charged_ns, virtual_ns_);
  AdvanceVirtualTime();
}

std::optional<int64_t> JobQueue::LeastCharge() const {
  std::optional<int64_t> least;
  for (const auto& [key, job] : jobs_) {
    if (job.ready()) least = std::min(least.value_or(job.charged_ns), job.charged_ns);
  }
  return least;
}

void JobQueue::AdvanceVirtualTime() {
  virtual_ns_ = std::max(virtual_ns_, LeastCharge().value_or(virtual_ns_));
}

}  // namespace superfluid
