#ifndef SUPERFLUID_ENGINE_GENERATION_STATE_MOVER_H_
#define SUPERFLUID_ENGINE_GENERATION_STATE_MOVER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/generation/session_sequence.h"
#include "engine/state_job.h"

namespace superfluid {

// A model's part of an export or import: moves state, part by part. The session decides when:
//
//   Prepare -> Move(0) ... Move(parts - 1) -> Finish ... Finish -> Commit
//
// a part a step; the sequence is the one that it was started for, and has not changed since.
// Threads: one. Lifetime: the model and the bytes must outlive it.
class StateMover {
 public:
  StateMover() = default;
  StateMover(const StateMover&) = delete;
  StateMover& operator=(const StateMover&) = delete;
  virtual ~StateMover() = default;

  // Once, before the first part; what is exported is computed by then.
  virtual absl::Status Prepare(SessionSequence& /*sequence*/) { return absl::OkStatus(); }
  virtual uint64_t parts() const = 0;
  virtual absl::Status Move(SessionSequence& sequence, uint64_t part) = 0;
  // After the last part, until it says kDone.
  virtual absl::StatusOr<StateJobOutcome> Finish() { return StateJobOutcome::kDone; }
  // Lets it take effect.
  virtual absl::Status Commit(SessionSequence& sequence) = 0;
  // Of all bytes, when so many parts were moved.
  virtual uint64_t BytesMoved(uint64_t parts) const = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_STATE_MOVER_H_
