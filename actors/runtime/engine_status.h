#ifndef SUPERFLUID_ACTORS_RUNTIME_ENGINE_STATUS_H_
#define SUPERFLUID_ACTORS_RUNTIME_ENGINE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "engine/cancel_token.h"
#include "engine/engine.h"
#include "engine/state_job.h"
#include "protocol/messages/session_messages.h"
#include "protocol/messages/status.h"

namespace superfluid {

// What an engine's error is on the wire. An exact wire status (MakeStatus) stays; else NotFound is
// UNKNOWN_HANDLE, ResourceExhausted OUT_OF_MEMORY, what an engine must not return ENGINE_FAILED.
linkw::Status EngineStatus(const absl::Status& status);

// An error of the worker's own system (memory, descriptors), as it is told to the peer: what has
// run out is OUT_OF_MEMORY, not BUSY.
absl::Status SystemStatus(const absl::Status& status);

// What becomes of work that was stopped for this reason; kCancelled or kDeadlineExceeded.
absl::Status StoppedStatus(CancelReason reason);

std::string MessageOf(const absl::Status& status);

linkw::MemCounters ToWire(const MemoryCounters& memory);
linkw::StateSpaceDescriptor ToWire(const StateSpace& space);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_ENGINE_STATUS_H_
