#include "engine/llama/llama_strategy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/sampling/prompt_lookup.h"

namespace superfluid {
namespace {

constexpr absl::string_view kPromptLookupId = "llama.prompt_lookup";
constexpr uint32_t kRngContract = 1;
constexpr uint32_t kExact = 1;
constexpr uint64_t kMaxStateBytes = uint64_t{1} << 30U;
constexpr size_t kLookBack = 16'384;

absl::Status Unmet(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("the llama engine does not have ", what));
}

absl::Status SetOption(absl::string_view option, PromptLookup& drafter) {
  const std::pair<absl::string_view, absl::string_view> pair =
      absl::StrSplit(option, absl::MaxSplits('=', 1));
  uint32_t value = 0;
  const bool number = absl::SimpleAtoi(pair.second, &value);
  if (number && pair.first == "n" && value >= 1 && value <= 16) {
    drafter.n = value;
  } else if (number && pair.first == "drafts" && value >= 1 && value <= 64) {
    drafter.drafts = value;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("no strategy option '", option, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PromptLookup> ParseId(absl::string_view id) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(id, absl::MaxSplits(':', 1));
  if (parts.first != kPromptLookupId) {
    return absl::UnimplementedError(
        absl::StrCat("no strategy '", parts.first, "'; there is ", kPromptLookupId));
  }
  PromptLookup drafter;
  for (const absl::string_view option : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    if (absl::Status status = SetOption(option, drafter); !status.ok()) return status;
  }
  return drafter;
}

StrategyCertificate ExactCertificate(StrategySlot slot) {
  StrategyCertificate certificate;
  certificate.cert_id = static_cast<uint64_t>(slot);
  certificate.exactness = kExact;
  certificate.sampling_modes = 0x3;  // greedy and random
  certificate.grammar_allowed = true;
  certificate.logit_bias_allowed = true;
  return certificate;
}

}  // namespace

std::vector<Token> PromptLookup::Draft(absl::Span<const Token> history) const {
  return PromptLookupDrafts(history, n, drafts, kLookBack);
}

std::vector<BuiltInStrategy> LlamaStrategies::BuiltIns() {
  return {{kPromptLookupSlot, std::string(kPromptLookupId), "1"}};
}

absl::Status LlamaStrategies::CheckRequirements(const StrategySpec& spec) const {
  const auto& archs = spec.target_archs;
  if (!archs.empty() && std::find(archs.begin(), archs.end(), architecture_) == archs.end()) {
    return Unmet("the strategy's architecture");
  }
  if (spec.kernel_caps_required != 0) return Unmet("the kernels required");
  if (spec.rng_contract_version != kRngContract) return Unmet("that random number contract");
  if (spec.claimed_exactness > kExact) return Unmet("the exactness claimed");
  if (!spec.taps.empty()) return Unmet("taps");
  for (const StrategyRequirement& requirement : spec.requirements) {
    const bool one = requirement.params.size() == 1;
    const bool context =
        one && requirement.kind_id == kLlamaRequiresContext && requirement.params[0] <= context_;
    const bool vocab =
        one && requirement.kind_id == kLlamaRequiresVocab && requirement.params[0] == vocab_;
    if (!context && !vocab) return Unmet("what the strategy requires");
  }
  return absl::OkStatus();
}

absl::StatusOr<StrategyTerms> LlamaStrategies::Register(const StrategySpec& spec) {
  const absl::StatusOr<PromptLookup> drafter = ParseId(spec.strategy_id);
  if (!drafter.ok()) return drafter.status();
  if (absl::Status status = CheckRequirements(spec); !status.ok()) return status;
  if (!spec.artifacts.empty()) {
    return absl::UnimplementedError("strategies of this engine have no artifacts");
  }
  if (spec.est_state_bytes > kMaxStateBytes || registered_.size() >= kLlamaMaxStrategies) {
    return absl::ResourceExhaustedError("no room for another strategy");
  }
  StrategyTerms terms;
  terms.slot = StrategySlot{++last_slot_};
  terms.certificates = {ExactCertificate(terms.slot)};
  registered_.emplace(terms.slot, *drafter);
  return terms;
}

absl::StatusOr<const PromptLookup*> LlamaStrategies::Find(StrategySlot slot) const {
  if (slot == StrategySlot{}) return nullptr;
  if (slot == kPromptLookupSlot) return &built_in_;
  const auto found = registered_.find(slot);
  if (found == registered_.end()) {
    return absl::NotFoundError(absl::StrCat("no strategy ", static_cast<uint32_t>(slot)));
  }
  return &found->second;
}

}  // namespace superfluid
