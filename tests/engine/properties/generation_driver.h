#ifndef SUPERFLUID_TESTS_ENGINE_PROPERTIES_GENERATION_DRIVER_H_
#define SUPERFLUID_TESTS_ENGINE_PROPERTIES_GENERATION_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/generation.h"

namespace superfluid::testing {

// A host that stops no lane and keeps what is emitted.
class QuietHost : public TickHost {
 public:
  bool LaneStopped(size_t lane) override;
  void Emit(size_t lane, absl::Span<const Token> tokens) override;
  std::vector<std::vector<Token>> emitted;  // by lane
};

// What is to be generated: the same script gives the same tokens by whatever way.
struct Script {
  std::vector<Token> prompt;
  uint32_t draws = 0;
  SamplingParams sampling;
  GrammarHandle grammar{};
  LogitBiasHandle bias{};
  std::vector<Token> stop_tokens;
};

// Exported state, with what it takes to import it.
struct StateImage {
  StateImport what;  // but for its sequence
  std::vector<std::byte> bytes;
};

// Uses an engine as a worker does, in verbs. Errors are those of the engine, or Internal for an
// answer that is not what the interface promises.
//
// Threads: the engine's. Lifetime: the engine must outlive it.
class GenerationDriver {
 public:
  explicit GenerationDriver(Generation& generation) : generation_(generation) {}

  Generation& generation() { return generation_; }

  // A tick of one lane; the lane's own error is the error.
  absl::StatusOr<LaneResult> RunLane(const LaneWork& work);
  // A lane that draws as the script says, up to `draws` tokens.
  LaneWork LaneFor(const Script& script, SequenceHandle sequence, absl::Span<const Token> input,
                   uint32_t draws);

  // The whole script on a new sequence, in one tick; result.sequence is the caller's.
  absl::StatusOr<LaneResult> Plain(const Script& script);
  // What is left of the script on a sequence that has its first `position` tokens (of the prompt
  // and of `drawn`, what the plain run gave). Internal: other tokens come than `drawn`. Does
  // not free the sequence.
  absl::Status Continue(const Script& script, const std::vector<Token>& drawn,
                        SequenceHandle sequence, uint64_t position);

  absl::StatusOr<StateImage> Export(SequenceHandle sequence, SpaceId space, TokenRange range,
                                    uint32_t encoding, bool free_device_copy);
  absl::Status Import(SequenceHandle sequence, const StateImage& image);
  // The largest position up to `cap` at which every space can be exported.
  absl::StatusOr<uint64_t> CommonBoundary(SequenceHandle sequence, uint64_t cap);
  // All spaces up to `end`, in the encodings chosen by `pick` (any number).
  absl::StatusOr<std::vector<StateImage>> Snapshot(SequenceHandle sequence, uint64_t end,
                                                   uint64_t pick);
  // A new sequence.
  absl::StatusOr<SequenceHandle> Restore(const std::vector<StateImage>& images);
  absl::Status TrimAll(SequenceHandle sequence, uint64_t new_len);
  absl::Status Free(SequenceHandle sequence) { return generation_.FreeSequence(sequence); }

 private:
  absl::Status RunJob(StateJob& job);

  Generation& generation_;
  uint64_t last_tag_ = 0;
};

// Internal, with both, unless they are equal.
absl::Status SameTokens(absl::Span<const Token> got, absl::Span<const Token> expected);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_PROPERTIES_GENERATION_DRIVER_H_
