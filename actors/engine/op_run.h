#ifndef SUPERFLUID_ACTORS_ENGINE_OP_RUN_H_
#define SUPERFLUID_ACTORS_ENGINE_OP_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "actors/engine/engine_link.h"
#include "actors/messages/imported_state.h"
#include "engine/cancel_token.h"
#include "engine/generation.h"
#include "engine/state_job.h"
#include "protocol/codec/state_envelope.h"
#include "protocol/messages/state_op_messages.h"
#include "shm/segment.h"

namespace superfluid {

// One state op in the engine: checks what the peer asked for, and steps the engine's job.
//
// Threads: the engine's. Lifetime: before the Generation; it keeps the memory that the engine may
// touch until it is destroyed.
class OpRun {
 public:
  // `segment`: the buffer, of an export. `import`: of an import. Errors: UNKNOWN_HANDLE,
  // ENVELOPE_MISMATCH (a promote of something else than was demoted),
  // FailedPrecondition (the state has changed since ExportSize), InvalidArgument (the buffer is too
  // small, a range that cannot be), the engine's.
  static absl::StatusOr<std::unique_ptr<OpRun>> Begin(Generation& generation,
                                                      const EngineLink& link,
                                                      const linkw::StateOp& op,
                                                      std::shared_ptr<const Segment> segment,
                                                      std::shared_ptr<const ImportedState> import);

  OpRun(const OpRun&) = delete;
  OpRun& operator=(const OpRun&) = delete;
  ~OpRun();

  // Errors: the engine's; Internal if it claims to have moved more than there is.
  absl::StatusOr<StateJobOutcome> Step(const StepBudget& budget, const CancelToken& token);

  uint64_t bytes_moved() const;
  // What to seal an export with; all but the checksum and the space's key.
  const linkw::StateEnvelope& envelope() const { return envelope_; }

 private:
  OpRun() = default;

  static absl::Status CheckPromote(const EngineLink& link, const linkw::StateOp& op,
                                   const linkw::StateEnvelope& envelope);
  absl::Status BeginExport(Generation& generation, const StateExport& what, uint64_t sizing_gen);
  absl::Status BeginImport(Generation& generation, const StateImport& what);

  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<const ImportedState> import_;
  linkw::StateEnvelope envelope_;
  std::unique_ptr<StateJob> job_;  // last: it may touch the memory above
};

// Notes in `link` what a finished op changed about which state is on the device.
void NoteOpDone(EngineLink& link, const linkw::StateOp& op, const linkw::StateEnvelope& envelope);

// The parts of an op that all kinds have.
linkw::SequenceId SequenceOf(const linkw::StateOp& op);
linkw::SpaceId SpaceOf(const linkw::StateOp& op);
linkw::BufId BufferOf(const linkw::StateOp& op);
bool IsExport(const linkw::StateOp& op);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_OP_RUN_H_
