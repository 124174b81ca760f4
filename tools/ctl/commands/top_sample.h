#ifndef SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_SAMPLE_H_
#define SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_SAMPLE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// What a worker told unasked, by name, and when.
struct CounterSample {
  absl::Duration at;  // on the monotonic clock
  std::map<std::string, uint64_t> counters;
};

// Keeps the newest two Telemetry messages: rates come from their difference. Thread-safe.
class TelemetryStore {
 public:
  void Add(const linkw::Telemetry& telemetry, absl::Duration now);

  // The newest, and the one before.
  std::pair<std::optional<CounterSample>, std::optional<CounterSample>> Newest() const;

 private:
  mutable std::mutex mutex_;
  std::optional<CounterSample> newest_;  // guarded by mutex_
  std::optional<CounterSample> before_;  // guarded by mutex_
};

// A Pong, and when it came.
struct PongSample {
  absl::Duration at;
  linkw::Pong pong;
};

// What `top` shows. Nothing: the worker did not say (it sends no telemetry, or not yet twice).
struct TopFigures {
  linkw::Pong pong;
  std::optional<double> load;  // 0 to 1: how much of the time the engine was inside steps
  std::optional<double> steps_per_s;
  std::optional<uint64_t> lanes;  // of the last tick
  std::optional<double> ticks_per_s;
  std::optional<double> tokens_in_per_s;
  std::optional<double> tokens_out_per_s;
  std::optional<uint64_t> ops_done;
  std::optional<double> op_bytes_per_s;
  std::optional<uint64_t> transcriptions_done;
  std::optional<uint64_t> open_requests;
  std::optional<uint64_t> cancels;
};

// Pure. `before`: the Pong before `now`, if there was one. A counter that fell (the worker was
// restarted) has no rate.
TopFigures MakeTopFigures(const PongSample& now, const std::optional<PongSample>& before,
                          const std::optional<CounterSample>& counters,
                          const std::optional<CounterSample>& counters_before);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_COMMANDS_TOP_SAMPLE_H_
