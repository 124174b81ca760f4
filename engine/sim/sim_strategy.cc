#include "engine/sim/sim_strategy.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sampling/mix.h"
#include "engine/sampling/prompt_lookup.h"
#include "engine/sim/sim_files.h"

namespace superfluid {
namespace {

constexpr size_t kMaxArtifactBytes = size_t{16} << 20U;
constexpr size_t kLookBack = 4096;

// A draft there always is, right or wrong.
std::vector<Token> LookUp(const SimDrafter& drafter, absl::Span<const Token> history) {
  std::vector<Token> drafts = PromptLookupDrafts(history, drafter.n, drafter.drafts, kLookBack);
  if (drafts.empty()) drafts.push_back(history.back());
  return drafts;
}

std::vector<Token> DrawAhead(const SimDrafter& drafter, const SimDraftPoint& from) {
  std::vector<Token> history(from.history.begin(), from.history.end());
  const size_t known = history.size();
  SimPoint point = from.point;
  std::optional<LaneConstraint> ahead;
  if (from.constraint != nullptr) ahead = *from.constraint;
  LaneConstraint* const read = ahead.has_value() ? &*ahead : nullptr;
  for (uint32_t i = 0; i < drafter.drafts; ++i) {
    const absl::StatusOr<Token> token = DrawNext(*from.rules, point, history, read);
    if (!token.ok()) break;
    AdvanceSimPoint(point, {*token, 0, from.rules->adapter});
    if (read != nullptr) read->Accept(*token);
    history.push_back(*token);
  }
  return {history.begin() + static_cast<ptrdiff_t>(known), history.end()};
}

absl::StatusOr<SimDrafter> ParseId(absl::string_view text) {
  const absl::StatusOr<StrategyId> id = ParseStrategyId(text);
  if (!id.ok()) return id.status();
  if (id->name != "sim.ngram" && id->name != "sim.oracle") {
    return absl::UnimplementedError(
        absl::StrCat("no strategy '", id->name, "'; there are sim.ngram and sim.oracle"));
  }
  SimDrafter drafter;
  drafter.oracle = id->name == "sim.oracle";
  for (const auto& [key, value] : id->options) {
    if (key == "wrong" && value <= 100) {
      drafter.wrong = value;
    } else if (!TakeDraftOption(key, value, drafter.n, drafter.drafts)) {
      return NoStrategyOption(key, value);
    }
  }
  return drafter;
}

// The artifacts decide which drafts are wrong.
absl::Status ReadArtifacts(const StrategySpec& spec, SimDrafter& drafter) {
  for (const StrategyArtifact& artifact : spec.artifacts) {
    const absl::StatusOr<SimFile> file = ReadSimFile(artifact.path, kMaxArtifactBytes);
    if (!file.ok()) return file.status();
    drafter.salt = Mix(drafter.salt, file->fingerprint);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Token> DraftTokens(const SimDrafter& drafter, const SimDraftPoint& from) {
  std::vector<Token> drafts =
      drafter.oracle ? DrawAhead(drafter, from) : LookUp(drafter, from.history);
  for (size_t i = 0; i < drafts.size(); ++i) {
    const uint64_t chance = Mix(drafter.salt, from.history.size() + i) % 100;
    if (chance < drafter.wrong) drafts[i] = (drafts[i] + 1) % from.rules->vocab;
  }
  return drafts;
}

std::vector<BuiltInStrategy> SimStrategies::BuiltIns() {
  return {{kSimNgramSlot, "sim.ngram", "1"}};
}

absl::StatusOr<StrategyTerms> SimStrategies::Register(const StrategySpec& spec) {
  absl::StatusOr<SimDrafter> drafter = ParseId(spec.strategy_id);
  if (!drafter.ok()) return drafter.status();
  if (absl::Status status = CheckStrategyRequirements(spec, offer_); !status.ok()) return status;
  if (spec.est_state_bytes > kSimMaxStrategyBytes || registered_.size() >= kSimMaxStrategies) {
    return absl::ResourceExhaustedError("no room for another strategy");
  }
  if (absl::Status status = ReadArtifacts(spec, *drafter); !status.ok()) return status;
  StrategyTerms terms;
  terms.slot = StrategySlot{++last_slot_};
  terms.certificates = {ExactCertificate(terms.slot)};
  terms.reserved_bytes = spec.est_state_bytes;
  registered_.emplace(terms.slot, *drafter);
  return terms;
}

absl::StatusOr<const SimDrafter*> SimStrategies::Find(StrategySlot slot) const {
  if (slot == StrategySlot{}) return nullptr;
  if (slot == kSimNgramSlot) return &ngram_;
  const auto found = registered_.find(slot);
  if (found == registered_.end()) {
    return absl::NotFoundError(absl::StrCat("no strategy ", static_cast<uint32_t>(slot)));
  }
  return &found->second;
}

void SimStrategies::Clear() { registered_.clear(); }

}  // namespace superfluid
