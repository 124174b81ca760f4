#include "engine/sampling/strategy_check.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace superfluid {
namespace {

constexpr uint32_t kRngContract = 1;
constexpr uint32_t kExact = 1;
constexpr uint32_t kGreedyAndRandom = 0x3;

bool IsMet(const StrategyRequirement& requirement, const StrategyOffer& offer) {
  if (requirement.params.size() != 1) return false;
  const uint64_t wanted = requirement.params[0];
  if (requirement.kind_id == kRequiresContext) return wanted <= offer.context_tokens;
  return requirement.kind_id == kRequiresVocab && wanted == offer.vocab_size;
}

// Empty: nothing.
absl::string_view WhatIsMissing(const StrategySpec& spec, const StrategyOffer& offer) {
  const auto& archs = spec.target_archs;
  if (!archs.empty() && std::find(archs.begin(), archs.end(), offer.architecture) == archs.end()) {
    return "the strategy's architecture";
  }
  if ((spec.kernel_caps_required & ~offer.kernel_caps) != 0) return "the kernels required";
  if (spec.rng_contract_version != kRngContract) return "that random number contract";
  if (spec.claimed_exactness > kExact) return "the exactness claimed";
  for (const StrategyTap& tap : spec.taps) {
    if (tap.layer >= offer.tap_layers) return "the layer that is tapped";
  }
  for (const StrategyRequirement& requirement : spec.requirements) {
    if (!IsMet(requirement, offer)) return "what the strategy requires";
  }
  return "";
}

}  // namespace

absl::StatusOr<StrategyId> ParseStrategyId(absl::string_view id) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(id, absl::MaxSplits(':', 1));
  StrategyId parsed;
  parsed.name = std::string(parts.first);
  for (const absl::string_view option : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    uint32_t value = 0;
    if (!absl::SimpleAtoi(pair.second, &value)) {
      return absl::InvalidArgumentError(absl::StrCat("no strategy option '", option, "'"));
    }
    parsed.options.emplace_back(pair.first, value);
  }
  return parsed;
}

bool TakeDraftOption(absl::string_view key, uint32_t value, uint32_t& n, uint32_t& drafts) {
  if (key == "n" && value >= 1 && value <= 16) {
    n = value;
  } else if (key == "drafts" && value >= 1 && value <= 64) {
    drafts = value;
  } else {
    return false;
  }
  return true;
}

absl::Status NoStrategyOption(absl::string_view key, uint32_t value) {
  return absl::InvalidArgumentError(absl::StrCat("no strategy option '", key, "=", value, "'"));
}

absl::Status CheckStrategyRequirements(const StrategySpec& spec, const StrategyOffer& offer) {
  const absl::string_view missing = WhatIsMissing(spec, offer);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the ", offer.engine, " engine does not have ", missing));
}

StrategyCertificate ExactCertificate(StrategySlot slot) {
  StrategyCertificate certificate;
  certificate.cert_id = static_cast<uint64_t>(slot);
  certificate.exactness = kExact;
  certificate.sampling_modes = kGreedyAndRandom;
  certificate.grammar_allowed = true;
  certificate.logit_bias_allowed = true;
  return certificate;
}

}  // namespace superfluid
