#ifndef SUPERFLUID_TOOLS_WORKER_OUTCOME_H_
#define SUPERFLUID_TOOLS_WORKER_OUTCOME_H_

#include <atomic>
#include <string>

#include "actors/supervision/supervisor.h"
#include "tools/worker/signals.h"

namespace superfluid {

// Whether the worker serves, and how it ends, as its threads tell main: of its end the first word
// counts.
//
// Threads: any calls Set; main asks. Lifetime: outlives the actors, within that of the waiter.
class Outcome {
 public:
  explicit Outcome(SignalWaiter& signals) : signals_(signals) {}

  // Notes how the worker ends, unless that was noted before, and wakes the waiter.
  void Set(ExitCode code, std::string reason);

  // The engine is loaded.
  void SetReady() { ready_.store(true, std::memory_order_release); }
  bool ready() const { return ready_.load(std::memory_order_acquire); }

  bool exited() const { return exited_.load(std::memory_order_acquire); }

  // REQUIRES: exited.
  ExitCode code() const { return code_; }
  const std::string& reason() const { return reason_; }

 private:
  SignalWaiter& signals_;
  std::atomic<bool> ready_ = false;
  std::atomic<bool> said_ = false;
  std::atomic<bool> exited_ = false;
  ExitCode code_ = ExitCode::kOk;
  std::string reason_;
};

// Has the end of the supervisor, in whatever way, noted as a failure: without it nobody would end
// the process. One that ends in order has said before how.
void SetAtEndOf(const Supervisor& supervisor, Outcome& outcome);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_OUTCOME_H_
