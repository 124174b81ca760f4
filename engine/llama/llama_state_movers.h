#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_STATE_MOVERS_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_STATE_MOVERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/generation/state_mover.h"
#include "engine/llama/llama_token_model.h"
#include "engine/state_job.h"

namespace superfluid {

inline constexpr SpaceId kLlamaKvSpace{0};

// The one state space, "kv", if the library writes state in a form that is known. Its one encoding:
// a header of 32 bytes (magic u32, version u32, tokens of a part u32, runs of media u32, start u64,
// end u64, little-endian); for each token u32, bit 31 set if it was drawn; for each run of tokens
// that stand for media where it begins, how long it is, and the fingerprint, all u64; then the
// library's own bytes, part by part.
StateSpace LlamaStateSpace(const LlamaTokenModel& model);

// Of an export.
uint64_t LlamaStateBytes(const LlamaTokenModel& model, const SessionSequence& sequence,
                         TokenRange range);

// Movers of state; a part is written straight to where it goes. Lifetime: the model's.

absl::StatusOr<std::unique_ptr<StateMover>> StartLlamaExport(LlamaTokenModel& model,
                                                             const LlamaSequence& sequence,
                                                             const StateExport& what,
                                                             absl::Span<std::byte> out);

// InvalidArgument (bytes that are no state, or not of this provenance), ResourceExhausted (no
// room).
absl::StatusOr<std::unique_ptr<StateMover>> StartLlamaImport(LlamaTokenModel& model,
                                                             const LlamaSequence& sequence,
                                                             const StateImport& what,
                                                             absl::Span<const std::byte> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_STATE_MOVERS_H_
