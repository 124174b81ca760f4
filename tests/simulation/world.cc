#include "tests/simulation/world.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "actors/runtime/caf_compat.h"
#include "caf/scheduled_actor.hpp"
#include "caf/send.hpp"
#include "engine/sim/sim_clock.h"
#include "engine/sim/sim_engine.h"
#include "protocol/transport/memory_stream.h"
#include "shm/memory_fd_channel.h"
#include "tests/simulation/kernel.h"

namespace superfluid::simulation {
namespace {

constexpr size_t kHandlersBetweenReads = 8;

// The clock's table of timers, which CAF shows to derived classes only.
struct ClockTable : caf::detail::simple_actor_clock {
  static size_t SizeOf(const caf::detail::simple_actor_clock& clock) {
    return (clock.*(&ClockTable::schedule_)).size();
  }
};

}  // namespace

// The sim engine's time: a step moves the scheduler's clock.
class VirtualClock : public SimClock {
 public:
  explicit VirtualClock(caf::scheduler::test_coordinator& scheduler) : scheduler_(scheduler) {}

  void Spend(absl::Duration work) override {
    std::vector<std::function<void()>> due;
    std::erase_if(inside_, [&due](InsideStep& inside) {
      if (--inside.left > 0) return false;
      due.push_back(std::move(inside.what));
      return true;
    });
    for (const std::function<void()>& what : due) what();
    Pass(work);
  }
  void Hang(absl::Duration limit) override { Spend(limit); }
  absl::Time Now() const override {
    return absl::UnixEpoch() + absl::FromChrono(scheduler_.clock().now().time_since_epoch());
  }

  void Inside(uint32_t n, std::function<void()> what) {
    inside_.push_back({.left = n, .what = std::move(what)});
  }
  void ForgetInside() { inside_.clear(); }
  void Pass(absl::Duration time) {
    scheduler_.clock().current_time += std::chrono::duration_cast<caf::actor_clock::duration_type>(
        absl::ToChronoNanoseconds(time));
  }

 private:
  struct InsideStep {
    uint32_t left = 0;  // calls of Spend up to it
    std::function<void()> what;
  };

  caf::scheduler::test_coordinator& scheduler_;
  std::vector<InsideStep> inside_;
};

// Opens and reads recordings when the world's schedule says so.
class ScheduledReaders : public BlockingExecutor {
 public:
  // Nothing new is taken: no thread can be had for it.
  bool refuses = false;
  // Nothing gets on: a mount that hangs.
  bool hangs = false;

  absl::Status Begin(Task task) override {
    if (refuses) return absl::ResourceExhaustedError("no thread can be made to read a file with");
    Continue(std::move(task));
    return absl::OkStatus();
  }
  void Continue(Task task) override { tasks_.push_back(std::move(task)); }

  bool CanRun() const { return !hangs && !tasks_.empty(); }
  size_t waiting() const { return tasks_.size(); }
  // REQUIRES: CanRun().
  void RunOne() {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
  }

 private:
  std::deque<Task> tasks_;
};

World::World(const Plan& plan) : readers_(std::make_shared<ScheduledReaders>()) {
  compat::UseTestScheduler(config_);
  system_ = std::make_unique<caf::actor_system>(config_);
  // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): the configuration comes first
  scheduler_ = dynamic_cast<caf::scheduler::test_coordinator*>(&system_->scheduler());
  // Zero would read as "no step is running".
  scheduler_->clock().current_time += std::chrono::seconds(1);
  clock_ = std::make_shared<VirtualClock>(*scheduler_);
  WorkerConfig worker;
  worker.make_engine = [options = plan.engine_options, clock = clock_] {
    EngineConfig engine;
    engine.options = options;
    auto made = MakeSimEngine(engine, clock);
    if (!made.ok()) {  // the plan is wrong, not the worker
      std::fprintf(stderr, "%s\n", made.status().ToString().c_str());
      std::abort();
    }
    return made;
  };
  worker.readers = readers_;
  worker.make_token = [this] { return linkw::LinkToken{++tokens_}; };
  worker.on_exit = [this](ExitCode code, std::string reason) {
    ++exits_;
    exit_ = {code, std::move(reason)};
  };
  worker.on_engine_stuck = [this](absl::Duration /*age*/) { ++stuck_reports_; };
  supervisor_ =
      compat::Spawn(*system_, compat::Placement::kPooled, SupervisorBehavior, worker, progress_);
  compat::SendFromOutside(supervisor_, StartWorker{});
  Settle();
}

World::~World() {
  on_progress = nullptr;
  ForgetInsideSteps();
  SetReaders(/*refuse=*/false, /*hang=*/false);
  SetKernelFaults({});
  ShutDown();
  Settle();
  supervisor_ = nullptr;
  // Drops what timers hold.
  while (scheduler_->trigger_timeouts() > 0) Settle();
}

Connection World::Connect(bool with_descriptors, size_t capacity_bytes) {
  auto [ours, theirs] = MakeMemoryStreamPair({.capacity_bytes = capacity_bytes});
  Connection connection{.stream = std::move(ours)};
  FramesConnected connected{.stream = std::move(theirs)};
  if (with_descriptors) {
    auto [near, far] = MakeMemoryFdChannelPair();
    connection.descriptors = std::move(near);
    connected.descriptors = std::move(far);
  }
  compat::SendFromOutside(supervisor_, connected);
  return connection;
}

bool World::RunOne() {
  const WorkerRuns running;
  auto& jobs = scheduler_->jobs;
  const size_t ready = jobs.size() + (readers_->CanRun() ? 1 : 0);
  const uint32_t next = order_.Below(static_cast<uint32_t>(ready));
  if (ready > 0 && next == jobs.size()) {
    readers_->RunOne();
    return true;
  }
  if (ready > 1) std::rotate(jobs.begin(), jobs.begin() + next, jobs.end());
  return scheduler_->try_run_once();
}

size_t World::Run(size_t handlers) {
  size_t ran = 0;
  while (ran < handlers && RunOne()) {
    if (++ran % kHandlersBetweenReads == 0 && on_progress) on_progress();
  }
  if (on_progress) on_progress();
  return ran;
}

void World::Settle() {
  // Reading makes room for writers, which may then have more to do; steps make timers due.
  while (scheduler_->advance_time(caf::timespan(0)) + Run(100'000) > 0) {
  }
}

void World::Advance(absl::Duration time) {
  const absl::Duration step = std::clamp(time / 200, absl::Milliseconds(2), absl::Seconds(5));
  for (absl::Duration passed; passed < time; passed += step) {
    scheduler_->advance_time(absl::ToChronoNanoseconds(std::min(step, time - passed)));
    Settle();
  }
}

void World::Pause(absl::Duration time) { clock_->Pass(time); }

void World::InsideStep(uint32_t n, std::function<void()> what) {
  clock_->Inside(n, std::move(what));
}

void World::ForgetInsideSteps() { clock_->ForgetInside(); }

void World::SetReaders(bool refuse, bool hang) {
  readers_->refuses = refuse;
  readers_->hangs = hang;
}

bool World::readers_refuse() const { return readers_->refuses; }
bool World::readers_hang() const { return readers_->hangs; }
size_t World::WaitingReads() const { return readers_->waiting(); }

bool World::KillAnActor() {
  auto& jobs = scheduler_->jobs;
  if (jobs.empty()) return false;
  auto* const victim = dynamic_cast<caf::scheduled_actor*>(
      jobs.at(order_.Below(static_cast<uint32_t>(jobs.size()))));
  if (victim == nullptr || victim->address() == supervisor_.address()) return false;
  caf::anon_send_exit(victim->address(), caf::exit_reason::unhandled_exception);
  return true;
}

void World::ShutDown() {
  if (supervisor_ == nullptr || exit_) return;
  compat::SendFromOutside(supervisor_, superfluid::ShutDown{.scope = DrainScope::kEverything});
}

int64_t World::NowNs() const {
  return scheduler_->clock().now().time_since_epoch() / std::chrono::nanoseconds(1);
}

size_t World::Actors() const { return system_->registry().running(); }

size_t World::PendingTimers() const { return ClockTable::SizeOf(scheduler_->clock()); }

}  // namespace superfluid::simulation
