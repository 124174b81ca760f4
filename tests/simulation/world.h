#ifndef SUPERFLUID_TESTS_SIMULATION_WORLD_H_
#define SUPERFLUID_TESTS_SIMULATION_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "actors/messages/engine_progress.h"
#include "actors/supervision/supervisor.h"
#include "caf/actor_system.hpp"
#include "caf/scheduler/test_coordinator.hpp"
#include "engine/audio/blocking_executor.h"
#include "protocol/transport/byte_stream.h"
#include "shm/fd_channel.h"
#include "tests/simulation/dice.h"
#include "tests/simulation/plan.h"

namespace superfluid::simulation {

class VirtualClock;
class ScheduledReaders;

// The peer's ends of a new link.
struct Connection {
  std::unique_ptr<ByteStream> stream;
  std::unique_ptr<FdChannel> descriptors;
};

// A worker (all of its actors, with the sim engine) on CAF's deterministic scheduler: one thread,
// virtual time, and an order of handlers that a seed decides.
class World {
 public:
  explicit World(const Plan& plan);
  // Ends the worker, if it did not end before.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The order of the handlers from here on is a function of `seed`.
  void Schedule(uint64_t seed) { order_ = Dice(seed); }
  // Called every few handlers: peers read what has arrived.
  std::function<void()> on_progress;

  // Connects a peer. `capacity_bytes`: what each direction of the stream holds.
  Connection Connect(bool with_descriptors, size_t capacity_bytes);

  // Runs at most `handlers` handlers at this moment of virtual time (the engine's steps move it);
  // returns how many ran.
  size_t Run(size_t handlers);
  // Runs until nothing is left to do now.
  void Settle();
  // Lets time pass in small steps, and runs whatever becomes due.
  void Advance(absl::Duration time);
  // Lets time pass while nothing runs: a process that was stopped.
  void Pause(absl::Duration time);
  // Calls `what` in the n-th step of the engine's time from now on, before that time passes, unless
  // `Forget` comes first: other threads would run then.
  void InsideStep(uint32_t n, std::function<void()> what);
  void ForgetInsideSteps();
  // Work that may block: whether it is refused for want of a thread, and whether it hangs.
  void SetReaders(bool refuse, bool hang);
  bool readers_refuse() const;
  bool readers_hang() const;
  size_t WaitingReads() const;
  // Ends one of the actors that have a message waiting (but for the Supervisor, without which there
  // is no worker), with an error; false if there is none.
  bool KillAnActor();
  void ShutDown();

  int64_t NowNs() const;
  size_t Actors() const;
  size_t PendingTimers() const;
  const EngineProgress& progress() const { return *progress_; }
  // How the worker ended, if it did.
  const std::optional<std::pair<ExitCode, std::string>>& exit() const { return exit_; }
  int exits() const { return exits_; }
  // The times that the worker took its engine for stuck.
  int stuck_reports() const { return stuck_reports_; }

 private:
  bool RunOne();

  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;
  std::shared_ptr<ScheduledReaders> readers_;
  caf::scheduler::test_coordinator* scheduler_ = nullptr;
  std::shared_ptr<VirtualClock> clock_;

  std::shared_ptr<EngineProgress> progress_ = std::make_shared<EngineProgress>();
  Supervisor supervisor_;
  Dice order_{0};
  uint8_t tokens_ = 0;
  std::optional<std::pair<ExitCode, std::string>> exit_;
  int exits_ = 0;
  int stuck_reports_ = 0;
};

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_WORLD_H_
