#ifndef SUPERFLUID_ENGINE_LLAMA_STATE_CHECKS_H_
#define SUPERFLUID_ENGINE_LLAMA_STATE_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "engine/handles.h"
#include "engine/llama/llama_sequence.h"
#include "engine/llama/state_image.h"
#include "engine/state_job.h"

namespace superfluid {

// What is checked of state that goes out or comes in, but for its bytes.

// InvalidArgument: the range is not within the sequence, or cuts an image that is computed at once.
absl::Status CheckStateRange(const LlamaSequence& sequence, TokenRange range);

// What the state of the first `end` tokens was computed from.
Digest ProvenanceOf(const LlamaSequence& sequence, uint64_t end);

// State that replaces all of a sequence. InvalidArgument (not a range from 0 to at most `context`),
// FailedPrecondition (computed under another adapter).
absl::Status CheckRestore(const LlamaSequence& sequence, const StateImport& what, uint64_t context);
// State that comes back. FailedPrecondition (nothing is demoted, other state is), InvalidArgument
// (another range).
absl::Status CheckPromote(const LlamaSequence& sequence, const StateImport& what);
// InvalidArgument: the tokens and media that come with the state are not those of its provenance.
absl::Status CheckHead(const LlamaSequence& sequence, const StateImport& what,
                       const StateHead& head);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_STATE_CHECKS_H_
