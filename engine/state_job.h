#ifndef SUPERFLUID_ENGINE_STATE_JOB_H_
#define SUPERFLUID_ENGINE_STATE_JOB_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/cancel_token.h"
#include "engine/handles.h"
#include "engine/transcription.h"

namespace superfluid {

// One kind of per-sequence state (the KV cache of attention layers, a recurrent state, ...).
struct StateSpace {
  SpaceId id{};
  std::string name;              // for people
  uint64_t bytes_per_token = 0;  // 0: the state does not grow by token
  // Exports end, and Trim cuts, at multiples of this (an export may also end at the sequence's
  // length); at least 1.
  uint32_t boundary_tokens = 1;
  uint64_t encodings = 1;  // bit n: encoding n can be exported; 0 is the engine's own raw form
  // Equal keys: state of one engine can be imported by the other (model, adapter, layout).
  Digest compat_key{};
};

struct ExportSize {
  uint64_t bytes = 0;
  // Changes whenever a later export of the same range could have other bytes or another size.
  uint64_t sizing_gen = 0;
};

// State that leaves the device.
struct StateExport {
  SequenceHandle sequence{};
  SpaceId space{};
  TokenRange range;
  uint32_t encoding = 0;
  // Demote: once the export is done the device copy is freed, and the range is missing until it is
  // imported again. Until then the sequence is as before.
  bool free_device_copy = false;
};

// State that comes back.
struct StateImport {
  SequenceHandle sequence{};
  SpaceId space{};
  TokenRange range;
  uint32_t encoding = 0;
  // What the export's Provenance was: what the bytes are the state of.
  Digest provenance{};
  // Restore: `range` starts at 0 and replaces all of the sequence's state in this space.
  // Otherwise Promote: fills in exactly the range that a Demote freed, of the same provenance.
  bool replace = false;
};

enum class StateJobOutcome {
  kMore,     // call Step again
  kWaiting,  // nothing to do at this moment (a copy is under way); call Step again a little later
  kDone,     // the bytes are written or the state is in place
};

// One export or import in progress: a resumable object like TranscriptionJob. The host runs it
// beside ticks, but never beside work on the same sequence.
//
// It takes effect as a whole, when Step returns kDone; until then, and if it is destroyed or fails
// before, the sequence is as it was. Threads: the engine's. Lifetime: destroyed before its Engine;
// nothing touches the memory that it was given once it is destroyed, and destroying it must be as
// cheap as a step.
class StateJob {
 public:
  virtual ~StateJob() = default;

  // Errors: Cancelled if `token` was set; InvalidArgument (bytes that are no state); anything else
  // is an engine failure. After an error or kDone, Step is not called again.
  virtual absl::StatusOr<StateJobOutcome> Step(const StepBudget& budget,
                                               const CancelToken& token) = 0;

  virtual uint64_t bytes_moved() const = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_STATE_JOB_H_
