#ifndef SUPERFLUID_ENGINE_SAMPLING_STRATEGY_CHECK_H_
#define SUPERFLUID_ENGINE_SAMPLING_STRATEGY_CHECK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/strategy.h"

namespace superfluid {

// What engines whose strategies only draft, and verify every draft, have in common when one is
// registered. Threads: any.

// A strategy's id, "name" or "name:key=number,key=number".
struct StrategyId {
  std::string name;
  std::vector<std::pair<std::string, uint32_t>> options;
};

// Errors: InvalidArgument naming the option that has no number.
absl::StatusOr<StrategyId> ParseStrategyId(absl::string_view id);

// Takes an option of every drafter: "n" (tokens that are looked up, [1, 16]) or "drafts" (at a
// time, [1, 64]). False: it is neither, or out of its range.
bool TakeDraftOption(absl::string_view key, uint32_t value, uint32_t& n, uint32_t& drafts);

absl::Status NoStrategyOption(absl::string_view key, uint32_t value);

// What a strategy may require: a context of at least params[0] tokens; a vocabulary of exactly
// params[0] tokens.
inline constexpr uint32_t kRequiresContext = 1;
inline constexpr uint32_t kRequiresVocab = 2;

// What an engine offers a strategy.
struct StrategyOffer {
  std::string engine;
  std::string architecture;
  uint64_t context_tokens = 0;
  uint64_t vocab_size = 0;
  uint64_t kernel_caps = 0;
  uint32_t tap_layers = 0;
};

// FailedPrecondition naming what the engine does not have: another architecture, kernel
// capabilities, a layer that is tapped, a requirement that is not met or not known,
// rng_contract_version not 1, more than exactness 1 claimed.
absl::Status CheckStrategyRequirements(const StrategySpec& spec, const StrategyOffer& offer);

// Of a strategy whose drafts are verified: the same tokens as without, whatever the sampling.
StrategyCertificate ExactCertificate(StrategySlot slot);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_STRATEGY_CHECK_H_
