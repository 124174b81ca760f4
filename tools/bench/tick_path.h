#ifndef SUPERFLUID_TOOLS_BENCH_TICK_PATH_H_
#define SUPERFLUID_TOOLS_BENCH_TICK_PATH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "actors/engine/work_queue.h"
#include "protocol/frames/frame.h"
#include "tools/bench/tick_server.h"

namespace superfluid::bench {

// All that a worker does for a tick beside sockets and threads, in one call: from the payload of
// TICK_SUBMIT through queue, checks and a null engine to the frame of TICK_RESULT. Threads: one.
class TickPath {
 public:
  // Ticks of lanes that draw one token each.
  static absl::StatusOr<std::unique_ptr<TickPath>> Make(size_t lanes);

  // Does it once; returns the frame. Aborts if the tick does not end as it should.
  std::string Run();

 private:
  explicit TickPath(std::unique_ptr<TickServer> server) : server_(std::move(server)) {}

  const std::unique_ptr<TickServer> server_;
  WorkQueue queue_;
  linkw::FrameEncoder encoder_;
  std::string payload_;
  uint64_t seq_ = 0;
};

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_TICK_PATH_H_
