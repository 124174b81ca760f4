#ifndef SUPERFLUID_ENGINE_SIM_SIM_STATE_JOB_H_
#define SUPERFLUID_ENGINE_SIM_SIM_STATE_JOB_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/sim/sim_world.h"
#include "engine/state_job.h"

namespace superfluid {

// The state spaces "kv" (0) and "recurrent" (1).
std::vector<StateSpace> SimStateSpaces(uint32_t vocab);

// NotFound; InvalidArgument: no such space.
absl::StatusOr<SimSequence*> FindSimState(const SimWorld& world, SequenceHandle sequence,
                                          SpaceId space);

// As Generation::SizeOfExport.
absl::StatusOr<ExportSize> SizeOfSimExport(const SimWorld& world, SequenceHandle sequence,
                                           SpaceId space, TokenRange range, uint32_t encoding);

// State jobs. A step moves op_chunk_bytes; once all are moved the job waits until op_us have passed
// since it was started, then misbehaves as asked for, then takes effect.
//
// FailedPrecondition, from Step: the sequence has changed since the job was started, or is gone.
// Lifetime: the world's.

// Errors: those of SizeOfSimExport; InvalidArgument: `out` has another size, or a part of the space
// recurrent that is not all of it is to be freed.
absl::StatusOr<std::unique_ptr<StateJob>> StartSimExport(SimWorld& world, const StateExport& what,
                                                         absl::Span<std::byte> out);

// Errors: NotFound; InvalidArgument (space, encoding, range, number of bytes); FailedPrecondition
// (see SimSequence::CheckPromote; computed under another adapter than the sequence's);
// ResourceExhausted (no blocks). From Step: InvalidArgument (the bytes are no state, or not of this
// provenance).
absl::StatusOr<std::unique_ptr<StateJob>> StartSimImport(SimWorld& world, const StateImport& what,
                                                         absl::Span<const std::byte> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_STATE_JOB_H_
