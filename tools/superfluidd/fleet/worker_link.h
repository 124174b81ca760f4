#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_LINK_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_LINK_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "protocol/client/link_client.h"
#include "tools/superfluidd/fleet/fleet_messages.h"

namespace superfluid::daemon {

// The process of a link for whoever must end it while the link's own thread waits for it to load.
// Thread-safe.
class ProcessHolder {
 public:
  void Set(std::shared_ptr<WorkerProcess> process) {
    const std::lock_guard lock(mutex_);
    process_ = std::move(process);
  }
  void Kill();

 private:
  std::mutex mutex_;
  std::shared_ptr<WorkerProcess> process_;
};

struct WorkerLinkConfig {
  WorkerKey key;
  WorkerSpec spec;
  FleetSupervisor supervisor;
  std::shared_ptr<ProcessHolder> holder;
  absl::Duration load_timeout = absl::Minutes(10);
  absl::Duration silence = absl::Seconds(30);  // without an answer to a ping: killed
};

// One worker process and the link to it. Every job that it is given ends with one JobEnded, also if
// the process dies; then it reports WorkerEnded and is gone.
//
// On a thread of its own, which may block: while the worker loads, in a write that the worker does
// not take, and for the end of the process. It never waits for an answer: the link's reader thread
// tells it when there is something to take.
class WorkerLinkState {
 public:
  static constexpr const char* name = "worker-link";

  explicit WorkerLinkState(WorkerLink::pointer self) : self_(self) {}

  void Start(WorkerLinkConfig config);
  void OnConnect();
  void OnStartJob(const StartJob& start);
  void OnCancelJob(RequestNumber number);
  void OnSamples(const PushJobSamples& push);
  void OnReplies();
  void OnCheck();
  void OnEnd(const EndWorker& end);

 private:
  struct Job {
    std::shared_ptr<const SpeechRequest> request;
    RequestActor actor;
    int64_t deadline_ns = 0;  // 0: none
    DecodedUpload decoded;    // without samples: it was not necessary
    std::unique_ptr<linkw::TranscriptionStream> stream;
    linkw::BufId buffer{};  // 0: none
    int64_t audio_ms = 0;
  };
  using Jobs = std::map<RequestNumber, Job>;

  absl::Status Connect();
  absl::Status Begin(Job& job);
  absl::StatusOr<linkw::AudioSourceSpec> OfferAudio(Job& job);
  absl::Status Transcribe(Job& job);
  // Returns whether the job has ended.
  bool TakeReplies(Job& job);
  void ReportSegment(Job& job, linkw::TranscribeSegment segment);
  void FinishJob(Job& job, linkw::StateSyncResult result);
  void FailJob(const Job& job, const absl::Status& status);
  void FailJobs(const std::string& reason);
  void TakePong();
  void Leave(const std::string& reason, absl::Duration patience);

  WorkerLink::pointer self_;
  WorkerLinkConfig config_;
  std::shared_ptr<WorkerProcess> process_;
  std::unique_ptr<linkw::LinkClient> client_;
  std::shared_ptr<std::atomic<bool>> activity_ = std::make_shared<std::atomic<bool>>(false);
  Jobs jobs_;
  uint64_t next_buffer_ = 1;
  std::unique_ptr<linkw::ReplyStream> pong_;  // awaited; null: none is
  int64_t pinged_ns_ = 0;
  bool retiring_ = false;
  absl::Duration retire_patience_;
};

WorkerLink::behavior_type WorkerLinkBehavior(WorkerLink::stateful_pointer<WorkerLinkState> self,
                                             WorkerLinkConfig config);

// Returns how many requests a worker takes at once: what its engine says, at most `wanted` unless
// that is 0, at least 1.
uint32_t PlacesOf(const linkw::HelloAck& ack, uint32_t wanted);

// Returns the name of the worker's engine.
std::string EngineOf(const linkw::HelloAck& ack);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_WORKER_LINK_H_
