#include "engine/llama/llama_strategy.h"

#include "absl/strings/str_cat.h"
#include "engine/sampling/prompt_lookup.h"

namespace superfluid {
namespace {

constexpr absl::string_view kPromptLookupId = "llama.prompt_lookup";
constexpr uint64_t kMaxStateBytes = uint64_t{1} << 30U;
constexpr size_t kLookBack = 16'384;

absl::StatusOr<PromptLookup> ParseId(absl::string_view text) {
  const absl::StatusOr<StrategyId> id = ParseStrategyId(text);
  if (!id.ok()) return id.status();
  if (id->name != kPromptLookupId) {
    return absl::UnimplementedError(
        absl::StrCat("no strategy '", id->name, "'; there is ", kPromptLookupId));
  }
  PromptLookup drafter;
  for (const auto& [key, value] : id->options) {
    if (!TakeDraftOption(key, value, drafter.n, drafter.drafts))
      return NoStrategyOption(key, value);
  }
  return drafter;
}

}  // namespace

std::vector<Token> PromptLookup::Draft(absl::Span<const Token> history) const {
  return PromptLookupDrafts(history, n, drafts, kLookBack);
}

std::vector<BuiltInStrategy> LlamaStrategies::BuiltIns() {
  return {{kPromptLookupSlot, std::string(kPromptLookupId), "1"}};
}

absl::StatusOr<StrategyTerms> LlamaStrategies::Register(const StrategySpec& spec) {
  const absl::StatusOr<PromptLookup> drafter = ParseId(spec.strategy_id);
  if (!drafter.ok()) return drafter.status();
  if (absl::Status status = CheckStrategyRequirements(spec, offer_); !status.ok()) return status;
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
