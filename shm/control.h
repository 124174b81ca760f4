#ifndef SUPERFLUID_SHM_CONTROL_H_
#define SUPERFLUID_SHM_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "shm/segment.h"

namespace superfluid {

// The control segment: a daemon stops work, and sees a worker's pulse, without a system call.
// Made by the daemon; little-endian; what each side writes has cache lines of its own.
//
//   offset  size  field                                                            written by
//        0     4  magic "SFLC"                                                     daemon, once
//        4     4  version, 1                                                       daemon, once
//        8     8  size of all this, 8384                                           daemon, once
//       16     4  lanes, 256                                                       daemon, once
//       20     4  transcription slots, 1024                                        daemon, once
//       24    40  0
//       64     8  heartbeat: sequence, odd while the next two are written          worker
//       72     8  heartbeat: tick_id                                               worker
//       80     8  heartbeat: CLOCK_MONOTONIC in ns                                 worker
//       88    40  0
//      128    32  stop bits: lane i is bit i % 64 of the i / 64-th 64-bit word     daemon
//      160    32  0
//      192  8192  stop words, 64 bits each: the seq of the request in that slot
//                 which is to stop, else 0                                         daemon
//
// A stop word names the request, so a stop that comes too late cannot hit the slot's next user.
inline constexpr uint32_t kControlVersion = 1;
inline constexpr uint64_t kControlBytes = 8384;
inline constexpr uint32_t kControlLanes = 256;
inline constexpr uint32_t kControlTranscriptionSlots = 1024;

struct Heartbeat {
  uint64_t tick_id = 0;
  uint64_t monotonic_ns = 0;
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

// The worker's side. Threads: Beat from one thread, the rest from any. It reads the header once, at
// Attach; nothing that the daemon writes later can move an access out of bounds.
class WorkerControl {
 public:
  // `bytes` is what CONTROL_ATTACH announced. Errors: those of Segment::Attach, InvalidArgument
  // (fewer bytes than the layout has; wrong magic, version, size or counts).
  static absl::StatusOr<WorkerControl> Attach(OwnedFd fd, uint64_t bytes);

  // Tells the daemon that the engine got as far as `tick_id` at `monotonic_ns`.
  void Beat(const Heartbeat& heartbeat);

  // Whether the daemon wants the lane stopped; false for a lane that does not exist.
  bool LaneStopped(uint32_t lane) const;

  // Whether the daemon wants request `request_seq`, which runs in `slot`, stopped; false for a slot
  // that does not exist and for request 0.
  bool TranscriptionStopped(uint32_t slot, uint64_t request_seq) const;

 private:
  explicit WorkerControl(Segment segment) : segment_(std::move(segment)) {}

  Segment segment_;
  uint64_t sequence_ = 0;  // ours, not what the memory says
};

// The daemon's side. Threads: any may call any method.
class DaemonControl {
 public:
  // Errors: those of Segment::Create.
  static absl::StatusOr<DaemonControl> Create();

  // A descriptor to send under kControlTag. Errors: those of Segment::DuplicateFd.
  absl::StatusOr<OwnedFd> DuplicateFd() const { return segment_.DuplicateFd(); }

  // Sets or clears a lane's stop bit. OutOfRange: no such lane.
  absl::Status SetLaneStop(uint32_t lane, bool stop);

  // Asks request `request_seq`, which runs in `slot`, to stop; 0 takes a stop back. OutOfRange: no
  // such slot.
  absl::Status StopTranscription(uint32_t slot, uint64_t request_seq);

  // The worker's last heartbeat; zeros before the first. Unavailable if the worker was in the
  // middle of writing one through many attempts (it died there, or plays tricks).
  absl::StatusOr<Heartbeat> ReadHeartbeat() const;

 private:
  explicit DaemonControl(Segment segment) : segment_(std::move(segment)) {}

  Segment segment_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_CONTROL_H_
