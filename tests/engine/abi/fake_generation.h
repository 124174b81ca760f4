#ifndef SUPERFLUID_TESTS_ENGINE_ABI_FAKE_GENERATION_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_FAKE_GENERATION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/generation.h"

namespace superfluid::testing {

// What happens inside a FakeGeneration, for the test to see and to set.
struct FakeScript {
  // Every call with all its arguments, in order: "fork 7 3".
  std::vector<std::string> calls;
  // If set, every call fails with it, or throws.
  absl::Status failure;
  std::function<void()> thrower;

  uint64_t next_handle = 100;  // handed out next
  std::vector<StateSpace> spaces;
  std::vector<BuiltInStrategy> strategies;
  std::function<absl::StatusOr<std::vector<LaneResult>>(const Tick&, const CancelToken&, TickHost&)>
      tick;
  std::function<absl::StatusOr<StateJobOutcome>(const CancelToken&)> step;
  uint64_t bytes_moved = 0;
  int jobs = 0;
  absl::Span<std::byte> out;
  absl::Span<const std::byte> in;
  // Runs inside each call that has a CallControl.
  std::function<void(const CallControl&)> in_call;
  std::vector<SpaceMatch> matches;
  std::vector<float> embedding;
  StageOutput stage;
  StrategyTerms terms;
};

// Answers every call of Generation as its script says. The script must outlive it.
std::unique_ptr<Generation> MakeFakeGeneration(FakeScript& script);

// Everything in them, for comparisons that show what differs.
std::string Describe(const LaneWork& lane);
std::string Describe(const LaneResult& result);
std::string Describe(const StateSpace& space);
std::string Describe(const StrategySpec& strategy);
std::string Describe(const StrategyTerms& terms);

// A digest with these first bytes.
Digest DigestOf(uint8_t first, uint8_t rest = 0);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_ABI_FAKE_GENERATION_H_
