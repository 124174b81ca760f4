#ifndef SUPERFLUID_ACTORS_RUNTIME_WORKER_THREADS_H_
#define SUPERFLUID_ACTORS_RUNTIME_WORKER_THREADS_H_

#include <memory>
#include <utility>

#include "actors/runtime/descriptor_poller.h"
#include "actors/runtime/hosted_thread.h"
#include "caf/actor_system.hpp"

namespace superfluid {

// The two hosted threads of a worker: `link`, which reads and writes all sockets, and `engine`, the
// only one that calls the engine. Nothing on `link` blocks; what is long on `engine` is a step.
//
// Lifetime: the system outlives it. Its end waits for all actors of the system.
class WorkerThreads {
 public:
  // `poller` is of the sockets.
  WorkerThreads(caf::actor_system& system, std::shared_ptr<DescriptorPoller> poller)
      : system_(system),
        link_(system, {.name = "link", .throughput = kLinkTurn, .poller = std::move(poller)}),
        engine_(system, {.name = "engine", .throughput = 1, .fallback = &link_}) {}
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads() { system_.await_all_actors_done(); }

  HostedThread& link() { return link_; }
  HostedThread& engine() { return engine_; }

 private:
  static constexpr size_t kLinkTurn = 16;

  caf::actor_system& system_;
  HostedThread link_;
  HostedThread engine_;  // ends first: it hands over to the other
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_WORKER_THREADS_H_
