#include "engine/sim/sim_strategy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/sampling/mix.h"
#include "engine/sampling/prompt_lookup.h"
#include "engine/sim/sim_files.h"
#include "engine/sim/sim_stage.h"

namespace superfluid {
namespace {

constexpr uint32_t kRngContract = 1;
constexpr uint32_t kExact = 1;
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
  std::optional<SimMatcher> matcher;
  if (from.matcher != nullptr) matcher = *from.matcher;
  SimMatcher* const read = matcher.has_value() ? &*matcher : nullptr;
  for (uint32_t i = 0; i < drafter.drafts; ++i) {
    const absl::StatusOr<Token> token = DrawNext(*from.rules, point, history, read);
    if (!token.ok()) break;
    AdvanceSimPoint(point, {*token, 0, from.rules->adapter});
    if (read != nullptr) read->Advance(*token);
    history.push_back(*token);
  }
  return {history.begin() + static_cast<ptrdiff_t>(known), history.end()};
}

absl::Status Unmet(absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("the sim engine does not have ", what));
}

absl::Status SetOption(absl::string_view option, SimDrafter& drafter) {
  const std::pair<absl::string_view, absl::string_view> pair =
      absl::StrSplit(option, absl::MaxSplits('=', 1));
  uint32_t value = 0;
  const bool number = absl::SimpleAtoi(pair.second, &value);
  if (number && pair.first == "n" && value >= 1 && value <= 16) {
    drafter.n = value;
  } else if (number && pair.first == "drafts" && value >= 1 && value <= 64) {
    drafter.drafts = value;
  } else if (number && pair.first == "wrong" && value <= 100) {
    drafter.wrong = value;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("no strategy option '", option, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<SimDrafter> ParseId(absl::string_view id) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(id, absl::MaxSplits(':', 1));
  if (parts.first != "sim.ngram" && parts.first != "sim.oracle") {
    return absl::UnimplementedError(
        absl::StrCat("no strategy '", parts.first, "'; there are sim.ngram and sim.oracle"));
  }
  SimDrafter drafter;
  drafter.oracle = parts.first == "sim.oracle";
  for (const absl::string_view option : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    if (absl::Status status = SetOption(option, drafter); !status.ok()) return status;
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

absl::Status SimStrategies::CheckRequirements(const StrategySpec& spec) const {
  const auto& archs = spec.target_archs;
  if (!archs.empty() && std::find(archs.begin(), archs.end(), "sim") == archs.end()) {
    return Unmet("the strategy's architecture");
  }
  if ((spec.kernel_caps_required & ~kSimKernelCaps) != 0) return Unmet("the kernels required");
  if (spec.rng_contract_version != kRngContract) return Unmet("that random number contract");
  if (spec.claimed_exactness > kExact) return Unmet("the exactness claimed");
  for (const StrategyTap& tap : spec.taps) {
    if (tap.layer >= kSimLayers) return Unmet("the layer that is tapped");
  }
  for (const StrategyRequirement& requirement : spec.requirements) {
    const bool one = requirement.params.size() == 1;
    const bool context =
        one && requirement.kind_id == kSimRequiresContext && requirement.params[0] <= context_;
    const bool vocab =
        one && requirement.kind_id == kSimRequiresVocab && requirement.params[0] == vocab_;
    if (!context && !vocab) return Unmet("what the strategy requires");
  }
  return absl::OkStatus();
}

absl::StatusOr<StrategyTerms> SimStrategies::Register(const StrategySpec& spec) {
  absl::StatusOr<SimDrafter> drafter = ParseId(spec.strategy_id);
  if (!drafter.ok()) return drafter.status();
  if (absl::Status status = CheckRequirements(spec); !status.ok()) return status;
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
