#ifndef SUPERFLUID_TOOLS_BENCH_SIM_DRIVER_H_
#define SUPERFLUID_TOOLS_BENCH_SIM_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/bench/fleet.h"
#include "tools/bench/wire_client.h"

namespace superfluid::bench {

// A worker whose engine takes its time, and its driver. Threads: one.
class SimDriver {
 public:
  // Ticks of one lane take `step`, and so do steps of transcriptions.
  static absl::StatusOr<std::unique_ptr<SimDriver>> Start(const ScratchFolder& folder,
                                                          const std::string& name,
                                                          absl::Duration step, int lanes);

  // Sends a tick of the lane with this number, from 0.
  absl::StatusOr<uint64_t> SendTick(int lane);
  absl::Status SetStop(bool stop) { return client_->control().SetLaneStop(0, stop); }

  WireClient& client() { return *client_; }
  const Server& server() const { return server_; }

 private:
  explicit SimDriver(Server server) : server_(std::move(server)) {}
  absl::Status MakeSequences(int lanes);

  Server server_;
  std::unique_ptr<WireClient> client_;
  std::vector<std::string> ticks_;  // a payload a lane
};

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_SIM_DRIVER_H_
