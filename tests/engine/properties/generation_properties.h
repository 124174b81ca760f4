#ifndef SUPERFLUID_TESTS_ENGINE_PROPERTIES_GENERATION_PROPERTIES_H_
#define SUPERFLUID_TESTS_ENGINE_PROPERTIES_GENERATION_PROPERTIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/generation.h"
#include "tests/engine/properties/generation_driver.h"
#include "tests/engine/properties/property_run.h"

namespace superfluid::testing {

// How big the cases are, and what of an engine they may use.
struct PropertyLimits {
  uint32_t vocab = 256;
  uint64_t max_prompt = 80;
  uint32_t max_draws = 24;
  uint64_t block_tokens = 16;  // of the prefix cache
  std::vector<GrammarHandle> grammars;
  std::vector<LogitBiasHandle> biases;
  std::vector<StrategySlot> strategies;
  std::vector<std::string> adapters;  // files of two at least; empty: none is one of them
};

// The equality properties of token generation: whatever way a script is run, the tokens are those
// of the plain run. One method per way; each runs one random case, frees what it made, and returns
// Internal (or the engine's error) with what differs.
//
// Works on any Generation, so on every engine and on a host's wrapper of one. Lifetime: the engine
// must outlive it.
class GenerationProperties {
 public:
  GenerationProperties(Generation& generation, PropertyLimits limits)
      : driver_(generation), limits_(std::move(limits)) {}

  absl::Status RestoredEqualsPlain(CaseRandom& random);   // export, import into a new sequence
  absl::Status PromotedEqualsPlain(CaseRandom& random);   // demote ranges, promote them
  absl::Status ForkedEqualsPlain(CaseRandom& random);     // the child, and the parent after it
  absl::Status RedoneEqualsPlain(CaseRandom& random);     // trim, do it again
  absl::Status AdoptedEqualsPlain(CaseRandom& random);    // a leased prefix, adopted
  absl::Status PrefixHitEqualsPlain(CaseRandom& random);  // a cached prefix
  absl::Status VerifiedEqualsPlain(CaseRandom& random);   // drafts, right and wrong
  absl::Status StrategyEqualsPlain(CaseRandom& random);   // limits.strategies
  absl::Status ChunkedEqualsPlain(CaseRandom& random);    // the prompt in pieces
  absl::Status SplitTicksEqualPlain(CaseRandom& random);  // draws in pieces, lanes beside it
  // Computed under one of limits.adapters, published and exported under another, used under the
  // first.
  absl::Status SwappedAdapterEqualsPlain(CaseRandom& random);
  absl::Status CancelledEqualsPlain(CaseRandom& random);  // a tick and calls, done again
  // One byte of an export is changed: the import is refused or other tokens come.
  absl::Status FlippedByteShows(CaseRandom& random);

  GenerationDriver& driver() { return driver_; }

 private:
  // A script and what the plain run of it gives; the sequence of that run is freed.
  struct Case {
    Script script;
    std::vector<Token> drawn;
    uint64_t length() const { return script.prompt.size() + drawn.size(); }
    std::vector<Token> tokens() const;
  };

  Script RandomScript(CaseRandom& random);
  absl::StatusOr<Case> PlainCase(CaseRandom& random);
  // A sequence with the first `position` tokens of the case, made without any detour.
  absl::StatusOr<SequenceHandle> MakeUpTo(const Case& plain, uint64_t position);
  absl::Status ContinueAndFree(const Case& plain, SequenceHandle sequence, uint64_t position);
  absl::Status DemoteAndPromote(CaseRandom& random, SequenceHandle sequence, uint64_t length);
  absl::Status RefusesLane(const Case& plain, SequenceHandle sequence);
  // A script whose prompt begins like the case's tokens, at least one block, and is cached so far.
  struct Cached {
    Script script;
    std::vector<Token> expected;  // what it gave before it was cached
    std::vector<Token> published;
  };
  absl::StatusOr<Cached> CachedCase(CaseRandom& random, bool adopt, SeedHandle& seed);
  absl::Status DrawsWithCached(const Script& script, absl::Span<const Token> expected,
                               absl::Span<const Token> tokens, uint64_t cached);
  absl::Status DrawBeside(CaseRandom& random, const std::vector<Case>& plain);

  GenerationDriver driver_;
  const PropertyLimits limits_;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_PROPERTIES_GENERATION_PROPERTIES_H_
