#ifndef SUPERFLUID_ENGINE_GENERATION_STRATEGY_BOOK_H_
#define SUPERFLUID_ENGINE_GENERATION_STRATEGY_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/generation/drafter.h"
#include "engine/sampling/strategy_check.h"
#include "engine/strategy.h"

namespace superfluid {

inline constexpr size_t kMaxStrategies = 64;
inline constexpr uint64_t kMaxStrategyBytes = uint64_t{1} << 30U;
inline constexpr StrategySlot kBuiltInSlot{1};

// The strategies that exist: the model's own one in kBuiltInSlot, and those registered. All of
// them only draft, so a certificate says exactness 1: the same tokens as without. Threads: one.
class StrategyBook {
 public:
  // Unimplemented: no such name; InvalidArgument: a bad option.
  using Maker = std::function<absl::StatusOr<std::unique_ptr<Drafter>>(const StrategyId& id)>;

  // `built_in`: a name that `make` knows, without options; empty: there is none.
  StrategyBook(StrategyOffer offer, std::string built_in, Maker make);

  std::vector<BuiltInStrategy> BuiltIns() const;

  // An id is a name, followed by options or not: "sim.oracle:drafts=8,wrong=5".
  //
  // Errors: those of the maker, of CheckStrategyRequirements and of Drafter::ReadArtifacts;
  // ResourceExhausted.
  absl::StatusOr<StrategyTerms> Register(const StrategySpec& spec);

  // Null for slot 0; NotFound.
  absl::StatusOr<const Drafter*> Find(StrategySlot slot) const;
  void Clear();  // the built-in one stays

 private:
  const StrategyOffer offer_;
  const std::string built_in_id_;
  const Maker make_;
  std::map<StrategySlot, std::unique_ptr<Drafter>> drafters_;
  uint32_t last_slot_ = static_cast<uint32_t>(kBuiltInSlot);
};

// Takes the options of a prompt lookup, "n" and "drafts"; these are what it has without them.
// InvalidArgument.
absl::StatusOr<std::unique_ptr<Drafter>> MakePromptLookup(const StrategyId& id, uint32_t n,
                                                          uint32_t drafts);
// Unimplemented: what is said of a name that `known` is not.
absl::Status NoSuchStrategy(absl::string_view name, absl::string_view known);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_STRATEGY_BOOK_H_
