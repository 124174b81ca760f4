#ifndef SUPERFLUID_ACTORS_RUNTIME_HOSTED_THREAD_H_
#define SUPERFLUID_ACTORS_RUNTIME_HOSTED_THREAD_H_

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "actors/runtime/descriptor_poller.h"
#include "caf/execution_unit.hpp"
#include "caf/resumable.hpp"
#include "caf/scoped_execution_unit.hpp"
#include "shm/owned_fd.h"

namespace superfluid {

// A descriptor that a hosted thread polls while it has nothing else to do; another one watches it
// meanwhile, when there is something (FramesWatch).
// Threads: the hosted thread only.
class IdleWatch {
 public:
  virtual ~IdleWatch() = default;

  // Returns the descriptor to poll for input now, or -1.
  virtual int BeginIdle() = 0;
  // The descriptor can be read, has failed or has ended.
  virtual void OnReady() = 0;
  // The thread will do something long: somebody else has to watch.
  virtual void HandOver() = 0;
};

// What may run on another hosted thread instead of waiting for a step of this one.
class MayFloat {
 public:
  virtual ~MayFloat() = default;
  virtual bool floats() const = 0;
};

// One thread for several actors, which share it without sharing state: they run one after the
// other, each for `throughput` messages, in the order in which they became ready. Sleeps in ppoll
// when none is, over an eventfd and what it watches.
//
// Invariants:
//  1. An actor runs on one thread at a time (CAF's mailbox makes it ready once).
//  2. A thread with something to do that another has to know owes a wake, and pays it before it
//     sleeps, or before a step: what it has for the peer is written first.
//  3. Inside a step nothing that floats waits for this thread, and no wake is owed.
//
// Threads: exec_later, Post and turn any; BeginStep and EndStep the thread itself. Lifetime:
// outlives its actors (await_all_actors_done, then Stop), and `fallback` and `poller` outlive it.
class HostedThread final : public caf::execution_unit {
 public:
  struct Options {
    const char* name = "hosted";               // of at most 15 characters
    size_t throughput = 1;                     // messages that an actor handles in one turn
    HostedThread* fallback = nullptr;          // where what floats goes while a step runs here
    std::shared_ptr<DescriptorPoller> poller;  // what this thread dispatches; may be null
  };

  HostedThread(caf::actor_system& system, const Options& options);
  HostedThread(const HostedThread&) = delete;
  HostedThread& operator=(const HostedThread&) = delete;
  ~HostedThread() override;

  // Ends the thread; what still waits is released without having run.
  void Stop();

  // Returns the hosted thread that this code runs on, or null.
  static HostedThread* Current() { return current_; }

  // Runs `ready` soon, and takes over one reference to it.
  void exec_later(caf::resumable* ready) override;

  // Runs `task` on this thread, soon. For registrations: it must be short.
  void Post(std::function<void()> task);

  // Polls `watch` from now on, while it exists. REQUIRES: on this thread.
  void AddIdleWatch(const std::shared_ptr<IdleWatch>& watch) { idle_watches_.push_back(watch); }

  // Around each call that may be long. They do not nest.
  void BeginStep();
  void EndStep() { in_step_ = false; }
  bool in_step() const { return in_step_; }

  // Odd while an actor has its turn, and another number each turn: a sign of life.
  uint64_t turn() const { return turn_.load(std::memory_order_relaxed); }

 private:
  void Run();
  bool TakeRemote();
  void RunOne();
  void HandOverReady();
  void Sleep();
  void LookAround();
  // Waits for no longer than `patience`; null: until there is something.
  void Poll(const timespec* patience);
  void AskIdleWatches();
  // Makes the other thread look into its queue, now or when what is at hand is done.
  void OweWake();
  void PayWakes();
  void Wake();
  template <class Insert>
  void Enqueue(Insert insert);

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables,readability-identifier-naming)
  static inline thread_local HostedThread* current_ = nullptr;

  const Options options_;
  caf::scoped_execution_unit context_;
  const OwnedFd event_;

  // This thread's own.
  std::deque<caf::resumable*> ready_;
  std::vector<caf::resumable*> taken_;
  std::vector<HostedThread*> owed_;
  struct Polled {
    std::weak_ptr<IdleWatch> watch;
    int fd = -1;
  };
  std::vector<std::weak_ptr<IdleWatch>> idle_watches_;
  std::vector<Polled> polled_;
  std::vector<pollfd> items_;
  int turns_since_poll_ = 0;
  bool in_step_ = false;
  std::atomic<uint64_t> turn_{0};

  std::mutex mutex_;
  std::vector<caf::resumable*> remote_;  // this and below: guarded by mutex_
  std::vector<std::function<void()>> posted_;
  bool stop_ = false;
  bool asleep_ = false;                  // or about to be
  std::atomic<bool> has_remote_{false};  // something was put behind mutex_
  std::thread thread_;
};

// A step of the hosted thread that this code runs on, if it runs on one.
class ThreadStep {
 public:
  ThreadStep() : thread_(HostedThread::Current()) {
    if (thread_ != nullptr) thread_->BeginStep();
  }
  ThreadStep(const ThreadStep&) = delete;
  ThreadStep& operator=(const ThreadStep&) = delete;
  ~ThreadStep() {
    if (thread_ != nullptr) thread_->EndStep();
  }

 private:
  HostedThread* const thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_HOSTED_THREAD_H_
