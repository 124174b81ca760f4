#ifndef SUPERFLUID_TOOLS_BENCH_CLASSIC_PEER_H_
#define SUPERFLUID_TOOLS_BENCH_CLASSIC_PEER_H_

#include <string>

#include "absl/status/status.h"
#include "tools/bench/tick_server.h"

namespace superfluid::bench {

// Serves for ever: one thread that polls its sockets, decodes with the product's own codec, runs
// the tick and writes the answer. It knows HELLO, PING and TICK_SUBMIT. Nothing can be cancelled or
// asked while a tick runs: that is what a worker of the classic kind is.
absl::Status ServeClassic(const std::string& path, TickServer& ticks);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_CLASSIC_PEER_H_
