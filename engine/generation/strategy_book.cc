#include "engine/generation/strategy_book.h"

#include "absl/strings/str_cat.h"

namespace superfluid {

StrategyBook::StrategyBook(StrategyOffer offer, std::string built_in, Maker make)
    : offer_(std::move(offer)), built_in_id_(std::move(built_in)), make_(std::move(make)) {
  if (built_in_id_.empty()) return;
  absl::StatusOr<std::unique_ptr<Drafter>> drafter = make_({built_in_id_, {}});
  if (drafter.ok()) drafters_.emplace(kBuiltInSlot, *std::move(drafter));
}

std::vector<BuiltInStrategy> StrategyBook::BuiltIns() const {
  if (built_in_id_.empty()) return {};
  return {{kBuiltInSlot, built_in_id_, "1"}};
}

absl::StatusOr<StrategyTerms> StrategyBook::Register(const StrategySpec& spec) {
  const absl::StatusOr<StrategyId> id = ParseStrategyId(spec.strategy_id);
  if (!id.ok()) return id.status();
  absl::StatusOr<std::unique_ptr<Drafter>> drafter = make_(*id);
  if (!drafter.ok()) return drafter.status();
  if (absl::Status status = CheckStrategyRequirements(spec, offer_); !status.ok()) return status;
  const size_t built_in = built_in_id_.empty() ? 0 : 1;
  if (spec.est_state_bytes > kMaxStrategyBytes || drafters_.size() >= kMaxStrategies + built_in) {
    return absl::ResourceExhaustedError("no room for another strategy");
  }
  if (absl::Status read = (*drafter)->ReadArtifacts(spec.artifacts); !read.ok()) return read;
  StrategyTerms terms;
  terms.slot = StrategySlot{++last_slot_};
  terms.certificates = {ExactCertificate(terms.slot)};
  terms.reserved_bytes = (*drafter)->ReservedBytes(spec);
  drafters_.emplace(terms.slot, *std::move(drafter));
  return terms;
}

absl::StatusOr<const Drafter*> StrategyBook::Find(StrategySlot slot) const {
  if (slot == StrategySlot{}) return nullptr;
  const auto found = drafters_.find(slot);
  if (found != drafters_.end()) return found->second.get();
  return absl::NotFoundError(absl::StrCat("no strategy ", static_cast<uint32_t>(slot)));
}

void StrategyBook::Clear() {
  std::erase_if(drafters_, [](const auto& entry) { return entry.first != kBuiltInSlot; });
}

absl::StatusOr<std::unique_ptr<Drafter>> MakePromptLookup(const StrategyId& id, uint32_t n,
                                                          uint32_t drafts) {
  for (const auto& [key, value] : id.options) {
    if (!TakeDraftOption(key, value, n, drafts)) return NoStrategyOption(key, value);
  }
  return std::make_unique<PromptLookup>(n, drafts);
}

absl::Status NoSuchStrategy(absl::string_view name, absl::string_view known) {
  return absl::UnimplementedError(absl::StrCat("no strategy '", name, "'; there is ", known));
}

}  // namespace superfluid
