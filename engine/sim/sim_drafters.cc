#include "engine/sim/sim_drafters.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/generation/strategy_book.h"
#include "engine/sampling/mix.h"
#include "engine/sampling/prompt_lookup.h"
#include "engine/sim/sim_drawing.h"
#include "engine/sim/sim_files.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {
namespace {

constexpr size_t kMaxArtifactBytes = size_t{16} << 20U;
constexpr size_t kLookBack = 4096;

// A draft there always is, right or wrong.
std::vector<Token> LookUp(const SimDrafter::Options& options, absl::Span<const Token> history) {
  std::vector<Token> drafts = PromptLookupDrafts(history, options.n, options.drafts, kLookBack);
  if (drafts.empty()) drafts.push_back(history.back());
  return drafts;
}

std::vector<Token> DrawAhead(uint32_t count, uint32_t vocab, const DraftPoint& from) {
  const auto& sequence = static_cast<const SimSequence&>(*from.sequence);
  const SimDrawRules rules{vocab, sequence.adapter().fingerprint, *from.sampling, from.bias};
  std::vector<Token> history(from.history().begin(), from.history().end());
  const size_t known = history.size();
  SimPoint point = sequence.point();
  std::optional<LaneConstraint> ahead;
  if (from.constraint != nullptr) ahead = *from.constraint;
  LaneConstraint* const read = ahead.has_value() ? &*ahead : nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const absl::StatusOr<Token> token = DrawNext(rules, point, history, read);
    if (!token.ok()) break;
    AdvanceSimPoint(point, {*token, 0, rules.adapter});
    if (read != nullptr) read->Accept(*token);
    history.push_back(*token);
  }
  return {history.begin() + static_cast<ptrdiff_t>(known), history.end()};
}

}  // namespace

std::vector<Token> SimDrafter::Draft(const DraftPoint& from) const {
  std::vector<Token> drafts =
      options_.oracle ? DrawAhead(options_.drafts, vocab_, from) : LookUp(options_, from.history());
  for (size_t i = 0; i < drafts.size(); ++i) {
    const uint64_t chance = Mix(salt_, from.history().size() + i) % 100;
    if (chance < options_.wrong) drafts[i] = (drafts[i] + 1) % vocab_;
  }
  return drafts;
}

absl::Status SimDrafter::ReadArtifacts(absl::Span<const StrategyArtifact> artifacts) {
  for (const StrategyArtifact& artifact : artifacts) {
    const absl::StatusOr<SimFile> file = ReadSimFile(artifact.path, kMaxArtifactBytes);
    if (!file.ok()) return file.status();
    salt_ = Mix(salt_, file->fingerprint);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Drafter>> MakeSimDrafter(const StrategyId& id, uint32_t vocab) {
  if (id.name != kSimNgram && id.name != kSimOracle) {
    return NoSuchStrategy(id.name, absl::StrCat(kSimNgram, " and ", kSimOracle));
  }
  SimDrafter::Options options;
  options.oracle = id.name == kSimOracle;
  for (const auto& [key, value] : id.options) {
    if (key == "wrong" && value <= 100) {
      options.wrong = value;
    } else if (!TakeDraftOption(key, value, options.n, options.drafts)) {
      return NoStrategyOption(key, value);
    }
  }
  return std::make_unique<SimDrafter>(options, vocab);
}

}  // namespace superfluid
