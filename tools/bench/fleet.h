#ifndef SUPERFLUID_TOOLS_BENCH_FLEET_H_
#define SUPERFLUID_TOOLS_BENCH_FLEET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/bench/child.h"

namespace superfluid::bench {

// A server in a process of its own and the socket at which it listens.
struct Server {
  std::string socket;
  Child child;
};

// Starts superfluid_worker with this engine's library, named from the root of the tree.
absl::StatusOr<Server> StartWorker(const ScratchFolder& folder, const std::string& name,
                                   const std::string& engine,
                                   const std::vector<std::string>& options = {});

inline constexpr char kNullEngine[] = "tools/bench/libsuperfluid_null.so";
inline constexpr char kSimEngine[] = "engine/sim/libsuperfluid_sim.so";

// Starts this program as a server of one kind: raw, classic, grpc or zmq.
absl::StatusOr<Server> StartPeer(const ScratchFolder& folder, const std::string& name,
                                 const std::string& kind);

// What StartPeer's process does. Ends only with an error.
absl::Status ServePeer(const std::string& kind, const std::string& socket);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_FLEET_H_
