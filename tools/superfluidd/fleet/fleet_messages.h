#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_MESSAGES_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_MESSAGES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/runtime/caf_compat.h"
#include "caf/allowed_unsafe_message_type.hpp"
#include "protocol/messages/messages.h"
#include "tools/superfluidd/fleet/dispatch_queue.h"
#include "tools/superfluidd/fleet/speech_service.h"
#include "tools/superfluidd/fleet/upload_decoder.h"
#include "tools/superfluidd/fleet/worker_process.h"

// What the fleet's actors say to each other, and their handles:
//
//   client's exchange -> [RequestActor] one a request <-> [Scheduler] -> which worker
//                          |    |  ^                          ^
//              [DecodeDesk]     v  | segments, the end        | up, down
//                          [WorkerLink] one a worker process -+-> [FleetSupervisor]
//
#define SUPERFLUIDD_DECLARE_MESSAGE(Type) \
  namespace superfluid::daemon {          \
  struct Type;                            \
  }                                       \
  CAF_ALLOW_UNSAFE_MESSAGE_TYPE(superfluid::daemon::Type)

SUPERFLUIDD_DECLARE_MESSAGE(BeginRequest)
SUPERFLUIDD_DECLARE_MESSAGE(Admitted)
SUPERFLUIDD_DECLARE_MESSAGE(Refused)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerAssigned)
SUPERFLUIDD_DECLARE_MESSAGE(CancelRequest)
SUPERFLUIDD_DECLARE_MESSAGE(PushSamples)
SUPERFLUIDD_DECLARE_MESSAGE(JobSegment)
SUPERFLUIDD_DECLARE_MESSAGE(JobAudio)
SUPERFLUIDD_DECLARE_MESSAGE(JobEnded)
SUPERFLUIDD_DECLARE_MESSAGE(AdmitRequest)
SUPERFLUIDD_DECLARE_MESSAGE(RequeueRequest)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerUp)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerDown)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerHealth)
SUPERFLUIDD_DECLARE_MESSAGE(ServeModels)
SUPERFLUIDD_DECLARE_MESSAGE(CancelById)
SUPERFLUIDD_DECLARE_MESSAGE(DescribeFleet)
SUPERFLUIDD_DECLARE_MESSAGE(DrainFleet)
SUPERFLUIDD_DECLARE_MESSAGE(CancelAll)
SUPERFLUIDD_DECLARE_MESSAGE(SchedulerTick)
SUPERFLUIDD_DECLARE_MESSAGE(ConnectWorker)
SUPERFLUIDD_DECLARE_MESSAGE(StartJob)
SUPERFLUIDD_DECLARE_MESSAGE(CancelJob)
SUPERFLUIDD_DECLARE_MESSAGE(PushJobSamples)
SUPERFLUIDD_DECLARE_MESSAGE(UploadDecoded)
SUPERFLUIDD_DECLARE_MESSAGE(WantSamples)
SUPERFLUIDD_DECLARE_MESSAGE(NeedSamples)
SUPERFLUIDD_DECLARE_MESSAGE(ForgetSamples)
SUPERFLUIDD_DECLARE_MESSAGE(DecodeEnded)
SUPERFLUIDD_DECLARE_MESSAGE(DecodeTick)
SUPERFLUIDD_DECLARE_MESSAGE(RepliesArrived)
SUPERFLUIDD_DECLARE_MESSAGE(CheckWorker)
SUPERFLUIDD_DECLARE_MESSAGE(EndWorker)
SUPERFLUIDD_DECLARE_MESSAGE(StartFleet)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerConnected)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerEnded)
SUPERFLUIDD_DECLARE_MESSAGE(WorkerPonged)
SUPERFLUIDD_DECLARE_MESSAGE(RestartWorker)
SUPERFLUIDD_DECLARE_MESSAGE(SupervisorTick)
SUPERFLUIDD_DECLARE_MESSAGE(ReplaceWorkers)
SUPERFLUIDD_DECLARE_MESSAGE(StopFleet)

namespace superfluid::daemon {

// One request, from its submission to its end. See request_actor.h.
using RequestActor =
    compat::Handle<caf::result<void>(BeginRequest), caf::result<void>(Admitted),
                   caf::result<void>(Refused), caf::result<void>(WorkerAssigned),
                   caf::result<void>(CancelRequest), caf::result<void>(PushSamples),
                   caf::result<void>(JobSegment), caf::result<void>(JobAudio),
                   caf::result<void>(JobEnded), caf::result<void>(UploadDecoded)>;

// Has recordings decoded that workers do not read. See decode_desk.h.
using DecodeDesk = compat::Handle<caf::result<void>(WantSamples), caf::result<void>(NeedSamples),
                                  caf::result<void>(ForgetSamples), caf::result<void>(DecodeEnded),
                                  caf::result<void>(DecodeTick)>;

// Who waits, who runs where. See scheduler.h.
using Scheduler = compat::Handle<
    caf::result<void>(AdmitRequest), caf::result<void>(RequeueRequest), caf::result<void>(WorkerUp),
    caf::result<void>(WorkerDown), caf::result<void>(WorkerHealth), caf::result<void>(ServeModels),
    caf::result<void>(CancelById), caf::result<void>(DescribeFleet), caf::result<void>(DrainFleet),
    caf::result<void>(CancelAll), caf::result<void>(SchedulerTick)>;

// The link to one worker process, and the process. See worker_link.h.
using WorkerLink = compat::Handle<caf::result<void>(ConnectWorker), caf::result<void>(StartJob),
                                  caf::result<void>(CancelJob), caf::result<void>(PushJobSamples),
                                  caf::result<void>(RepliesArrived), caf::result<void>(CheckWorker),
                                  caf::result<void>(EndWorker)>;

// Starts workers, and starts them again. See fleet_supervisor.h.
using FleetSupervisor =
    compat::Handle<caf::result<void>(StartFleet), caf::result<void>(WorkerConnected),
                   caf::result<void>(WorkerEnded), caf::result<void>(WorkerPonged),
                   caf::result<void>(RestartWorker), caf::result<void>(SupervisorTick),
                   caf::result<void>(DescribeFleet), caf::result<void>(ReplaceWorkers),
                   caf::result<void>(StopFleet)>;

// A worker as the configuration wants it.
struct WorkerSpec {
  std::string name;   // "worker-0"
  std::string model;  // that it serves
  WorkerCommand command;
  uint32_t places = 0;  // requests at once; 0: as many as its engine takes
};

// Which process a message is about: the place of a worker in the configuration, and how often a
// process was started there.
struct WorkerKey {
  uint32_t index = 0;
  uint64_t generation = 0;
  bool operator==(const WorkerKey&) const = default;
  auto operator<=>(const WorkerKey&) const = default;
};

// ---- To a RequestActor

// Begins. From whoever spawned it.
struct BeginRequest {};
// The request waits, or has a worker. From the Scheduler, once.
struct Admitted {};
// There is no room. From the Scheduler, in place of Admitted; or later, if the request's model is
// served no more.
struct Refused {
  linkw::Status status = linkw::Status::kBusy;
  std::string message;
  absl::Duration retry_after;
  std::string param = {};  // the field that is wrong; empty: none
};
// Run on this worker. From the Scheduler.
struct WorkerAssigned {
  WorkerLink link;
  std::string name;
};
// Stop. From anybody, any number of times.
struct CancelRequest {
  CancelCause cause = CancelCause::kHangUp;
};
// Live audio. From the exchange.
struct PushSamples {
  std::shared_ptr<const std::string> samples;
  bool end = false;
};
struct JobSegment {
  std::shared_ptr<const linkw::TranscribeSegment> segment;
};
// So much audio was consumed.
struct JobAudio {
  int64_t audio_ms = 0;
};
// From WorkerLink, exactly once for each StartJob.
struct JobEnded {
  linkw::Status status = linkw::Status::kOk;
  std::string message;
  std::shared_ptr<const linkw::TranscribeResult> result;  // null: none came
  std::string param = {};  // the field that is wrong; empty: none, or not known
};

// Its recording is samples now, or cannot be. From the DecodeDesk.
struct UploadDecoded {
  absl::StatusOr<DecodedUpload> upload;
};

// ---- To the DecodeDesk

// A request waits for a worker, and its recording must be decoded. Ends with UploadDecoded, or when
// it is forgotten; said again before that, it changes nothing.
struct WantSamples {
  RequestNumber number{};
  std::shared_ptr<const SpeechRequest> request;
  RequestActor actor;
};
// It has a worker: decode it now, if that is not over yet.
struct NeedSamples {
  RequestNumber number{};
  int64_t deadline_ns = 0;  // 0: none
};
struct ForgetSamples {
  RequestNumber number{};
};
// From a decoder.
struct DecodeEnded {
  RequestNumber number{};
  uint64_t run = 0;
  absl::StatusOr<DecodedUpload> upload;
};
struct DecodeTick {};

// ---- To the Scheduler

// A new request; answered with Admitted or Refused. The sender's end frees its place.
struct AdmitRequest {
  WaitingRequest waiting;
  std::string id;
  bool live = false;
  RequestActor actor;
};
// The request had no luck with its worker and wants another.
struct RequeueRequest {
  RequestNumber number{};
};
struct WorkerUp {
  WorkerKey key;
  std::string name;
  std::string model;
  uint32_t places = 1;
  WorkerLink link;
};
struct WorkerDown {
  WorkerKey key;
};
// Whether it may get new work.
struct WorkerHealth {
  WorkerKey key;
  bool healthy = true;
};
// Only these models are served from now on.
struct ServeModels {
  std::set<std::string> names;
};
struct CancelById {
  std::string id;
  std::string tenant;
  CancelCause cause = CancelCause::kDeleted;
  std::function<void(bool found)> done;
};
// Fills in its part of the view and passes it on.
struct DescribeFleet {
  std::shared_ptr<FleetView> view;
  std::function<void(std::shared_ptr<FleetView>)> done;
};
// Takes no new request; `done` is called when none is open.
struct DrainFleet {
  std::function<void()> done;
};
struct CancelAll {
  CancelCause cause = CancelCause::kShutDown;
};
struct SchedulerTick {};

// ---- To a WorkerLink

// Start the process and introduce ourselves. To itself, first.
struct ConnectWorker {};
struct StartJob {
  RequestNumber number{};
  std::shared_ptr<const SpeechRequest> request;
  DecodedUpload decoded;  // in place of the request's recording; without samples: none
  absl::Duration deadline = absl::InfiniteDuration();  // from now
  RequestActor actor;
};
struct CancelJob {
  RequestNumber number{};
};
struct PushJobSamples {
  RequestNumber number{};
  std::shared_ptr<const std::string> samples;
  bool end = false;
};
// There is something to take from the link. From its reader thread.
struct RepliesArrived {};
// Ask the worker how it is.
struct CheckWorker {};
// Let the process end, by itself within `patience`; `when_idle`: once the jobs that it has are
// over.
struct EndWorker {
  absl::Duration patience;
  bool when_idle = false;
};

// ---- To the FleetSupervisor

struct StartFleet {};
// Workers of these kinds from now on; each running one is replaced when it is idle.
struct ReplaceWorkers {
  std::shared_ptr<const std::vector<WorkerSpec>> specs;
};
struct WorkerConnected {
  WorkerKey key;
  int pid = 0;
  uint32_t places = 1;
  std::string engine;  // its name, as the worker says
  WorkerLink link;
};
// The process is gone, or never was.
struct WorkerEnded {
  WorkerKey key;
  std::string reason;
};
struct WorkerPonged {
  WorkerKey key;
  linkw::Pong pong;
};
struct RestartWorker {
  WorkerKey key;
};
struct SupervisorTick {};
// Ends all workers, then calls `done`.
struct StopFleet {
  absl::Duration patience;
  std::function<void()> done;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_FLEET_MESSAGES_H_
