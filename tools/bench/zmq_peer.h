#ifndef SUPERFLUID_TOOLS_BENCH_ZMQ_PEER_H_
#define SUPERFLUID_TOOLS_BENCH_ZMQ_PEER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/bench/tick_server.h"
#include "tools/bench/turns.h"

namespace superfluid::bench {

// Serves ticks over ZeroMQ (ROUTER on ipc://) with stock Protobuf as the codec, for ever.
absl::Status ServeZmq(const std::string& path, TickServer& ticks);

// Ticks to such a server through a DEALER.
absl::StatusOr<std::unique_ptr<Contestant>> ConnectZmq(std::string name, const std::string& path,
                                                       size_t lanes);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_ZMQ_PEER_H_
