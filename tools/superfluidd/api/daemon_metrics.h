#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_DAEMON_METRICS_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_DAEMON_METRICS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/superfluidd/api/speech_exchange.h"
#include "tools/superfluidd/fleet/speech_service.h"

namespace superfluid::daemon {

// Counts how often a value fell below each bound. Threads: one at a time.
class Histogram {
 public:
  // REQUIRES: `bounds` increase.
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1, 0) {}

  void Observe(double value);
  // Appends its lines in the text format of OpenMetrics.
  void Write(const std::string& name, std::string& text) const;

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;  // of each bound, and beyond
  double sum_ = 0;
};

// The figures of the daemon since its start, for GET /metrics. What the fleet knows is taken from
// it when it is asked for. Thread-safe.
class DaemonMetrics final : public RequestObserver {
 public:
  void OnRequestEnded(const SpeechRequest& request, const RequestOutcome& outcome) override;
  void OnHttpFinished(const AccessRecord& record);

  // Returns the exposition, ended by "# EOF". `upload_bytes`: memory that uploads take now.
  std::string Text(const FleetView& view, uint64_t upload_bytes) const;

 private:
  using Labels = std::pair<std::string, std::string>;

  mutable std::mutex mutex_;                   // guards all of it
  std::map<Labels, uint64_t> requests_;        // by model and status
  std::map<std::string, uint64_t> cancelled_;  // by cause
  std::map<int, uint64_t> responses_;          // by HTTP status
  uint64_t hang_ups_ = 0;
  uint64_t retries_ = 0;
  uint64_t body_bytes_ = 0;
  double audio_seconds_ = 0;
  uint64_t steps_after_cancel_ = 0;
  Histogram queue_{{0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300}};
  Histogram total_{{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800}};
  Histogram first_segment_{{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30}};
  Histogram cancel_{{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5}};
  Histogram real_time_factor_{{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}};
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_DAEMON_METRICS_H_
