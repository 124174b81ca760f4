#ifndef SUPERFLUID_TOOLS_CTL_STATE_STATE_TRANSFER_H_
#define SUPERFLUID_TOOLS_CTL_STATE_STATE_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "protocol/client/link_client.h"
#include "protocol/driver/driver_buffers.h"
#include "protocol/driver/driver_ops.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/state/snapshot_file.h"
#include "tools/ctl/terminal/interruption.h"

namespace superfluid::ctl {

// Moves a sequence's state between a worker and a file. Errors are those of the calls and ops; an
// op that the user stopped is kCancelled.
//
// Threads: one. Lifetime: the client and the interruption must outlive it.
class StateTransfer {
 public:
  // `patience`: how long an answer or an op may take before the worker is asked whether it works
  // (see Patience). FailedPrecondition: the link passes no descriptors.
  static absl::StatusOr<StateTransfer> Open(linkw::LinkClient& client, Interruption& interruption,
                                            absl::Duration patience);

  // The largest position up to `position` at which every state space can be exported.
  absl::StatusOr<uint64_t> CommonBoundary(linkw::SequenceId sequence, uint64_t position);

  // One space's state of [0, boundary), sealed, in memory that the worker made.
  struct Saved {
    linkw::DriverBuffer buffer;
    uint64_t sealed_bytes = 0;  // at the buffer's start
  };
  absl::StatusOr<Saved> Save(linkw::SequenceId sequence, linkw::SpaceId space, uint64_t boundary);

  // Puts a file's state of one space into the sequence, from memory of our own.
  absl::Status Load(const SnapshotFile& file, size_t index, linkw::SequenceId sequence);

  absl::StatusOr<linkw::SequenceId> CreateSequence();

 private:
  StateTransfer(linkw::LinkClient& client, Interruption& interruption, absl::Duration patience,
                std::unique_ptr<linkw::DriverBuffers> buffers);
  absl::StatusOr<linkw::StateSyncReply> Call(linkw::StateSyncCall call);
  absl::Status RunOp(const linkw::StateOp& op);
  absl::StatusOr<linkw::StateOpDone> Await(linkw::DriverOp& op);

  linkw::LinkClient* client_;
  Interruption* interruption_;
  absl::Duration patience_;
  std::unique_ptr<linkw::DriverBuffers> buffers_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_STATE_STATE_TRANSFER_H_
