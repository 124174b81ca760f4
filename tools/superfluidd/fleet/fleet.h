#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/superfluidd/fleet/speech_service.h"
#include "tools/superfluidd/fleet/upload_decoder.h"
#include "tools/superfluidd/fleet/worker_process.h"

namespace superfluid::daemon {

struct FleetWorker {
  std::string model;
  WorkerCommand command;
  uint32_t places = 0;  // requests at once; 0: as many as its engine takes
};

struct FleetOptions {
  std::vector<FleetWorker> workers;
  size_t max_waiting = 256;
  size_t max_waiting_of_tenant = 256;
  std::shared_ptr<UploadDecoder> decoder;  // of recordings that workers do not read
  std::function<void(const char* event, const std::string& details)> log;
};

// The actors behind SpeechService. Thread-safe.
class Fleet final : public SpeechService {
 public:
  explicit Fleet(const FleetOptions& options);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  // REQUIRES: Stop's `done` was called.
  ~Fleet() override;

  // Starts the workers.
  void Start();

  std::unique_ptr<RequestHandle> Submit(SpeechRequest request,
                                        std::shared_ptr<RequestListener> listener) override;
  void CancelById(std::string id, std::string tenant, CancelCause cause,
                  std::function<void(bool found)> done) override;
  void Describe(std::function<void(FleetView)> done) override;
  FleetSummary Summary() const override;

  // Takes no new request; calls `done` when none is open.
  void Drain(std::function<void()> done);
  // Cancels what is open.
  void CancelAll();
  // Has each worker replaced by one of the new kind, one after the other, when it is idle. The
  // number of workers stays. Requests that wait for a model that is not among them end with
  // kNotFound at once.
  void Replace(const std::vector<FleetWorker>& workers);
  // Ends the workers, then calls `done`.
  void Stop(absl::Duration patience, std::function<void()> done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_H_
