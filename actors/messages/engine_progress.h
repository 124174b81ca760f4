#ifndef SUPERFLUID_ACTORS_MESSAGES_ENGINE_PROGRESS_H_
#define SUPERFLUID_ACTORS_MESSAGES_ENGINE_PROGRESS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "actors/messages/ids.h"
#include "actors/messages/step_age.h"
#include "engine/engine.h"

namespace superfluid {

// What the engine actor tells the world about itself without being asked: health is progress. A
// Pong must be answered while the engine is inside a step, so its figures cannot come out of a
// mailbox.
//
// What waits and what is open is counted by those who send it, since the engine sees what they sent
// only between two steps.
//
// Times are monotonic nanoseconds of the actor system's clock.
// Threads: Begin/Continue/End/Set* from the engine actor only, but SetFailed from the Supervisor,
// too, and what concerns loading as said there; Look from the Supervisor; everything else from any
// thread (Add* too). Each figure is read on its own; two figures may be a step apart.
class EngineProgress {
 public:
  // A step that gets on for longer than this counts as several.
  static constexpr int64_t kStepNs = 10'000'000;

  void BeginStep(int64_t now_ns) noexcept {
    CountStep(now_ns);
    step_started_ns_.store(now_ns > 0 ? now_ns : 1, std::memory_order_release);
  }
  void EndStep(int64_t now_ns) noexcept {
    busy_ns_.fetch_add(now_ns - step_started_ns_.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
    step_started_ns_.store(0, std::memory_order_release);
  }
  // A call into the engine that is no step of anybody's work: not counted, but watched.
  void BeginVisit(int64_t now_ns) noexcept {
    step_started_ns_.store(now_ns > 0 ? now_ns : 1, std::memory_order_release);
  }
  void EndVisit(int64_t now_ns) noexcept { EndStep(now_ns); }
  // The step in progress got on: what ages is the time without that. A tick may draw for seconds,
  // and asks whether to go on between two draws; one that is stuck does not.
  void ContinueStep(int64_t now_ns) noexcept {
    busy_ns_.fetch_add(now_ns - step_started_ns_.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
    if (now_ns - step_counted_ns_ >= kStepNs) CountStep(now_ns);
    step_started_ns_.store(now_ns > 0 ? now_ns : 1, std::memory_order_release);
  }
  // The request that the steps from now on are for.
  void SetRequest(RequestKey key) noexcept {
    request_link_.store(static_cast<uint64_t>(key.link), std::memory_order_relaxed);
    request_seq_.store(key.seq, std::memory_order_relaxed);
  }
  void SetJobs(size_t started) noexcept {
    started_.store(static_cast<uint32_t>(started), std::memory_order_relaxed);
  }
  // A request that the engine has not begun; see RequestToken.
  void AddWaiting(int change) noexcept { waiting_.fetch_add(change, std::memory_order_relaxed); }
  // A transcription that has not been answered; see OpenTranscriptionCount.
  void AddOpenTranscription(int change) noexcept {
    open_transcriptions_.fetch_add(change, std::memory_order_relaxed);
  }
  // A request of any kind that has not got its last answer; see RequestTable.
  void AddOpenRequests(int change) noexcept {
    open_requests_.fetch_add(change, std::memory_order_relaxed);
  }
  void BeginTick(size_t lanes) noexcept {
    last_lanes_.store(lanes, std::memory_order_relaxed);
    lanes_until_ns_.store(std::numeric_limits<int64_t>::max(), std::memory_order_relaxed);
  }
  void EndTick(int64_t now_ns, size_t lanes, uint64_t tokens_in, uint64_t tokens_out) noexcept {
    lanes_until_ns_.store(now_ns + kLanesActiveNs, std::memory_order_relaxed);
    ticks_.fetch_add(1, std::memory_order_relaxed);
    lanes_.fetch_add(lanes, std::memory_order_relaxed);
    tokens_in_.fetch_add(tokens_in, std::memory_order_relaxed);
    tokens_out_.fetch_add(tokens_out, std::memory_order_relaxed);
  }
  void AddOpenOps(int change) noexcept { open_ops_.fetch_add(change, std::memory_order_relaxed); }
  void AddOpDone(uint64_t bytes_moved) noexcept {
    ops_done_.fetch_add(1, std::memory_order_relaxed);
    op_bytes_.fetch_add(bytes_moved, std::memory_order_relaxed);
  }
  void AddTranscriptionDone() noexcept {
    transcriptions_done_.fetch_add(1, std::memory_order_relaxed);
  }
  void AddCancel() noexcept { cancels_.fetch_add(1, std::memory_order_relaxed); }
  void SetMemory(const MemoryCounters& memory) noexcept {
    allocated_bytes_.store(memory.allocated_bytes, std::memory_order_relaxed);
    host_retained_bytes_.store(memory.host_retained_bytes, std::memory_order_relaxed);
    pool_blocks_total_.store(memory.pool_blocks_total, std::memory_order_relaxed);
    pool_blocks_used_.store(memory.pool_blocks_used, std::memory_order_relaxed);
    pool_bytes_evictable_.store(memory.pool_bytes_evictable, std::memory_order_relaxed);
    tentative_bytes_.store(memory.tentative_bytes, std::memory_order_relaxed);
  }
  // The watchdog looks, once each `period_ns`.
  void Look(int64_t now_ns, int64_t period_ns) noexcept {
    age_.Look(now_ns, step_started_ns(), period_ns);
  }
  // The engine is being made, from BeginLoading to EndLoading; of both, the Supervisor's.
  void BeginLoading() noexcept { loading_.store(true, std::memory_order_release); }
  void EndLoading() noexcept { loading_.store(false, std::memory_order_release); }
  // How much of it is loaded, in thousandths. Less than was said before changes nothing.
  void SetLoaded(uint32_t permille) noexcept {
    permille = std::min<uint32_t>(permille, 1000);
    uint32_t before = load_permille_.load(std::memory_order_relaxed);
    while (before < permille && !load_permille_.compare_exchange_weak(before, permille)) {
    }
  }
  // The engine reported that it cannot go on. Never taken back.
  void SetFailed() noexcept { failed_.store(true, std::memory_order_release); }

  bool loading() const noexcept { return loading_.load(std::memory_order_acquire); }
  // As far as the engine said; 0 if it says nothing.
  uint32_t load_permille() const noexcept { return load_permille_.load(std::memory_order_relaxed); }

  // Micro-steps begun since the worker started, and signs of life inside them, at most one in
  // kStepNs: it grows as long as the engine gets on.
  uint64_t steps() const noexcept { return steps_begun_.load(std::memory_order_relaxed); }
  // When the step in progress began or last got on; 0 between steps.
  int64_t step_started_ns() const noexcept {
    return step_started_ns_.load(std::memory_order_acquire);
  }
  // How long the step in progress has shown no sign of life; 0 between steps. A pause of the whole
  // process is no part of it, see StepAge.
  int64_t StepAgeNs(int64_t now_ns) const noexcept { return age_.At(now_ns, step_started_ns()); }
  // The request that the last step was for, or is; link 0 before the first.
  RequestKey request() const noexcept {
    return {LinkId{request_link_.load(std::memory_order_relaxed)},
            request_seq_.load(std::memory_order_relaxed)};
  }
  // Time spent inside steps, up to their last sign of life.
  int64_t busy_ns() const noexcept { return busy_ns_.load(std::memory_order_relaxed); }
  uint32_t jobs_started() const noexcept { return started_.load(std::memory_order_relaxed); }
  // Requests of all kinds that the engine has not begun.
  uint32_t waiting() const noexcept {
    return static_cast<uint32_t>(waiting_.load(std::memory_order_relaxed));
  }
  // Waiting and started, of all links.
  uint32_t open_transcriptions() const noexcept {
    return static_cast<uint32_t>(open_transcriptions_.load(std::memory_order_relaxed));
  }
  // Of all kinds and links.
  uint32_t open_requests() const noexcept {
    return static_cast<uint32_t>(open_requests_.load(std::memory_order_relaxed));
  }
  // Accepted and not done, of all links.
  uint32_t open_ops() const noexcept {
    return static_cast<uint32_t>(open_ops_.load(std::memory_order_relaxed));
  }
  uint64_t ops_done() const noexcept { return ops_done_.load(std::memory_order_relaxed); }
  uint64_t op_bytes() const noexcept { return op_bytes_.load(std::memory_order_relaxed); }
  uint64_t ticks() const noexcept { return ticks_.load(std::memory_order_relaxed); }
  // The lanes of the tick that runs, or of the last one if it ended within kLanesActiveNs; else 0.
  uint64_t active_lanes(int64_t now_ns) const noexcept {
    if (now_ns > lanes_until_ns_.load(std::memory_order_relaxed)) return 0;
    return last_lanes_.load(std::memory_order_relaxed);
  }
  uint64_t lanes() const noexcept { return lanes_.load(std::memory_order_relaxed); }
  uint64_t tokens_in() const noexcept { return tokens_in_.load(std::memory_order_relaxed); }
  uint64_t tokens_out() const noexcept { return tokens_out_.load(std::memory_order_relaxed); }
  uint64_t transcriptions_done() const noexcept {
    return transcriptions_done_.load(std::memory_order_relaxed);
  }
  // Pieces of work that ended because their token was set.
  uint64_t cancels() const noexcept { return cancels_.load(std::memory_order_relaxed); }
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  MemoryCounters memory() const noexcept {
    return {.allocated_bytes = allocated_bytes_.load(std::memory_order_relaxed),
            .host_retained_bytes = host_retained_bytes_.load(std::memory_order_relaxed),
            .pool_blocks_total = pool_blocks_total_.load(std::memory_order_relaxed),
            .pool_blocks_used = pool_blocks_used_.load(std::memory_order_relaxed),
            .pool_bytes_evictable = pool_bytes_evictable_.load(std::memory_order_relaxed),
            .tentative_bytes = tentative_bytes_.load(std::memory_order_relaxed)};
  }

 private:
  // Two TELEMETRY are a second apart, and may be late.
  static constexpr int64_t kLanesActiveNs = 3'000'000'000;

  void CountStep(int64_t now_ns) noexcept {
    steps_begun_.fetch_add(1, std::memory_order_relaxed);
    step_counted_ns_ = now_ns;
  }

  StepAge age_;
  std::atomic<uint64_t> steps_begun_{0};
  int64_t step_counted_ns_ = 0;  // the engine's thread only
  std::atomic<int64_t> step_started_ns_{0};
  std::atomic<uint64_t> request_link_{0};
  std::atomic<uint64_t> request_seq_{0};
  std::atomic<int64_t> busy_ns_{0};
  std::atomic<int> waiting_{0};
  std::atomic<int> open_transcriptions_{0};
  std::atomic<int> open_requests_{0};
  std::atomic<uint32_t> started_{0};
  std::atomic<int> open_ops_{0};
  std::atomic<uint64_t> ops_done_{0};
  std::atomic<uint64_t> op_bytes_{0};
  std::atomic<uint64_t> ticks_{0};
  std::atomic<uint64_t> last_lanes_{0};
  std::atomic<int64_t> lanes_until_ns_{0};
  std::atomic<uint64_t> lanes_{0};
  std::atomic<uint64_t> tokens_in_{0};
  std::atomic<uint64_t> tokens_out_{0};
  std::atomic<uint64_t> transcriptions_done_{0};
  std::atomic<uint64_t> cancels_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> loading_{false};
  std::atomic<uint32_t> load_permille_{0};
  std::atomic<uint64_t> allocated_bytes_{0};
  std::atomic<uint64_t> host_retained_bytes_{0};
  std::atomic<uint64_t> pool_blocks_total_{0};
  std::atomic<uint64_t> pool_blocks_used_{0};
  std::atomic<uint64_t> pool_bytes_evictable_{0};
  std::atomic<uint64_t> tentative_bytes_{0};
};

// Counts one transcription as open for as long as it exists.
class OpenTranscriptionCount {
 public:
  explicit OpenTranscriptionCount(std::shared_ptr<EngineProgress> progress)
      : progress_(std::move(progress)) {
    progress_->AddOpenTranscription(1);
  }
  OpenTranscriptionCount(const OpenTranscriptionCount&) = delete;
  OpenTranscriptionCount& operator=(const OpenTranscriptionCount&) = delete;
  ~OpenTranscriptionCount() { progress_->AddOpenTranscription(-1); }

 private:
  const std::shared_ptr<EngineProgress> progress_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_ENGINE_PROGRESS_H_
