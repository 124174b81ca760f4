#ifndef SUPERFLUID_ENGINE_SIM_SIM_STATE_MOVERS_H_
#define SUPERFLUID_ENGINE_SIM_SIM_STATE_MOVERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/generation/state_mover.h"
#include "engine/sim/sim_sequence.h"
#include "engine/sim/sim_token_model.h"
#include "engine/state_job.h"

namespace superfluid {

// The state spaces "kv" (0) and "recurrent" (1).
std::vector<StateSpace> SimStateSpaces(uint32_t vocab);
// Of an export.
uint64_t SimStateBytes(SpaceId space, TokenRange range, uint32_t encoding);

// Movers of state. A part is op_chunk_bytes; once all are moved it waits until op_us have passed
// since it was started, then misbehaves as asked for, then takes effect. Lifetime: the model's.

// InvalidArgument: a part of the space recurrent that is not all of it is to be freed.
absl::StatusOr<std::unique_ptr<StateMover>> StartSimExport(SimTokenModel& model,
                                                           const SimSequence& sequence,
                                                           const StateExport& what,
                                                           absl::Span<std::byte> out);

// InvalidArgument (another number of bytes), ResourceExhausted (no blocks). When moved:
// InvalidArgument (the bytes are no state, or not of this provenance).
absl::StatusOr<std::unique_ptr<StateMover>> StartSimImport(SimTokenModel& model,
                                                           const SimSequence& sequence,
                                                           const StateImport& what,
                                                           absl::Span<const std::byte> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_STATE_MOVERS_H_
