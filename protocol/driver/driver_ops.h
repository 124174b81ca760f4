#ifndef SUPERFLUID_PROTOCOL_DRIVER_DRIVER_OPS_H_
#define SUPERFLUID_PROTOCOL_DRIVER_DRIVER_OPS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/client/reply_stream.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/messages.h"

namespace superfluid::linkw {

// A state op that the worker accepted; made by DriverOps. Thread-safe: Cancel may be called while
// another thread waits.
//
// Destroying it before it is done cancels it. Its buffer stays the worker's to use until the Done:
// release it whenever you like, but read nothing from it. Lifetime: the client must outlive it.
class DriverOp {
 public:
  DriverOp(LinkClient& client, OpHandle handle, std::unique_ptr<ReplyStream> replies);
  DriverOp(const DriverOp&) = delete;
  DriverOp& operator=(const DriverOp&) = delete;
  ~DriverOp();

  OpHandle handle() const { return handle_; }

  // Waits for the op's end, and then always returns it. What the op moved is readable. Errors:
  // DeadlineExceeded (call again to go on waiting), kLinkClosed, kInternal (another op's Done).
  absl::StatusOr<StateOpDone> Wait(Deadline deadline);

  // Asks the worker to stop; the Done still comes (kCancelled, or kDone if it won). Idempotent.
  absl::Status Cancel();

 private:
  LinkClient& client_;
  const OpHandle handle_;
  const std::unique_ptr<ReplyStream> replies_;
  absl::Mutex mutex_;
  std::optional<StateOpDone> done_ ABSL_GUARDED_BY(mutex_);
};

// Starts state ops. Threads: any may call any method. Lifetime: the client must outlive it.
class DriverOps {
 public:
  // `timeout`: for the worker to accept an op.
  DriverOps(LinkClient& client, absl::Duration timeout) : client_(client), timeout_(timeout) {}

  // Sends the op and waits until the worker accepts it. Errors: why it does not (kBusy: as many are
  // open as may be; kUnknownHandle; ...), DeadlineExceeded, those of a link.
  absl::StatusOr<std::unique_ptr<DriverOp>> Submit(const StateOp& op);

  // From Submit to the end; returns the bytes moved. Errors: those of Submit, the Done's (what
  // failed; kCancelled), DeadlineExceeded at `deadline`: then the op was cancelled.
  absl::StatusOr<uint64_t> Run(const StateOp& op, Deadline deadline);

 private:
  LinkClient& client_;
  const absl::Duration timeout_;
};

// OK if the op did what it was to do, else why not.
absl::Status StatusOf(const StateOpDone& done);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_DRIVER_DRIVER_OPS_H_
