#ifndef SUPERFLUID_ENGINE_GENERATION_DRAFTER_H_
#define SUPERFLUID_ENGINE_GENERATION_DRAFTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/constrain/lane_constraint.h"
#include "engine/generation/session_sequence.h"
#include "engine/sampling/prompt_lookup.h"
#include "engine/sampling/sampler.h"
#include "engine/strategy.h"

namespace superfluid {

// Where drafts begin: behind all tokens of a sequence, of which there is at least one. Pointers are
// not owned.
struct DraftPoint {
  const SessionSequence* sequence = nullptr;
  const SamplingParams* sampling = nullptr;
  const LogitBias* bias = nullptr;             // null: none
  const LaneConstraint* constraint = nullptr;  // null: no grammar

  absl::Span<const Token> history() const { return sequence->tokens(); }
};

// Guesses what is drawn next. Drafts change how fast tokens are drawn, never which. Threads: one.
class Drafter {
 public:
  Drafter() = default;
  Drafter(const Drafter&) = delete;
  Drafter& operator=(const Drafter&) = delete;
  virtual ~Drafter() = default;

  // As many as it likes; none is no error.
  virtual std::vector<Token> Draft(const DraftPoint& from) const = 0;
  // What it is registered with. NotFound: a file cannot be read; Unimplemented: it has no use for
  // files.
  virtual absl::Status ReadArtifacts(absl::Span<const StrategyArtifact> artifacts) {
    if (artifacts.empty()) return absl::OkStatus();
    return absl::UnimplementedError("strategies of this engine have no artifacts");
  }
  // What is kept for it of the memory that it asks for.
  virtual uint64_t ReservedBytes(const StrategySpec& /*spec*/) const { return 0; }
};

// Drafts what followed the last n tokens when they last occurred in the sequence.
class PromptLookup final : public Drafter {
 public:
  static constexpr size_t kLookBack = 16'384;

  PromptLookup(uint32_t lookup, uint32_t most) : n(lookup), drafts(most) {}
  std::vector<Token> Draft(const DraftPoint& from) const override {
    return PromptLookupDrafts(from.history(), n, drafts, kLookBack);
  }

  const uint32_t n;
  const uint32_t drafts;  // at a time
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_DRAFTER_H_
