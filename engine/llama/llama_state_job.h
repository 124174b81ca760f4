#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_STATE_JOB_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_STATE_JOB_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/llama/llama_world.h"
#include "engine/state_job.h"

namespace superfluid {

inline constexpr SpaceId kLlamaKvSpace{0};

// The one state space, "kv", if the library writes state in a form that is known. Its one encoding:
// a header of 32 bytes (magic u32, version u32, tokens of a part u32, runs of media u32, start u64,
// end u64, little-endian); for each token u32, bit 31 set if it was drawn; for each run of tokens
// that stand for media where it begins, how long it is, and the fingerprint, all u64; then the
// library's own bytes, part by part.
StateSpace LlamaStateSpace(const LlamaWorld& world);

// NotFound; InvalidArgument: no such space.
absl::StatusOr<LlamaSequence*> FindLlamaState(const LlamaWorld& world, SequenceHandle sequence,
                                              SpaceId space);

// As Generation.
absl::StatusOr<ExportSize> SizeOfLlamaExport(const LlamaWorld& world, SequenceHandle sequence,
                                             SpaceId space, TokenRange range, uint32_t encoding);
absl::StatusOr<Digest> LlamaProvenance(const LlamaWorld& world, SequenceHandle sequence,
                                       SpaceId space, TokenRange range);

// State jobs. A step of an export first computes what is not computed yet of the range, a pass a
// step; then steps move one part of it, written straight to where it goes. FailedPrecondition, from
// Step: the sequence has changed since the job was started, or is gone. Lifetime: the world's.

// Errors: those of SizeOfLlamaExport; InvalidArgument: `out` has another size.
absl::StatusOr<std::unique_ptr<StateJob>> StartLlamaExport(LlamaWorld& world,
                                                           const StateExport& what,
                                                           absl::Span<std::byte> out);

// Errors: NotFound; InvalidArgument (space, encoding, range, bytes that are no state, another
// provenance); FailedPrecondition (nothing demoted, or of another provenance; computed under
// another adapter than the sequence's); ResourceExhausted (no room).
absl::StatusOr<std::unique_ptr<StateJob>> StartLlamaImport(LlamaWorld& world,
                                                           const StateImport& what,
                                                           absl::Span<const std::byte> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_STATE_JOB_H_
