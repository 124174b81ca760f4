#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_STRATEGY_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/sampling/strategy_check.h"
#include "engine/strategy.h"

namespace superfluid {

inline constexpr StrategySlot kPromptLookupSlot{1};
inline constexpr size_t kLlamaMaxStrategies = 64;
// Drafts what followed the last n tokens when they last occurred in the sequence. Drafts change how
// fast tokens are drawn, never which.
struct PromptLookup {
  uint32_t n = 2;       // "n", [1, 16]
  uint32_t drafts = 8;  // "drafts": at a time, [1, 64]

  std::vector<Token> Draft(absl::Span<const Token> history) const;
};

// The strategies that exist: "llama.prompt_lookup" in slot 1, and those registered. Threads: one.
class LlamaStrategies {
 public:
  // `architecture`: the model's, as GGUF names it.
  LlamaStrategies(std::string architecture, uint32_t vocab, uint64_t context)
      : offer_{.engine = "llama",
               .architecture = std::move(architecture),
               .context_tokens = context,
               .vocab_size = vocab} {}

  static std::vector<BuiltInStrategy> BuiltIns();

  // The id is "llama.prompt_lookup", followed by options or not:
  // "llama.prompt_lookup:n=3,drafts=4". The certificate says exactness 1: the same tokens as
  // without.
  //
  // Errors: Unimplemented (another id, artifacts), InvalidArgument (a bad option),
  // those of CheckStrategyRequirements, ResourceExhausted.
  absl::StatusOr<StrategyTerms> Register(const StrategySpec& spec);

  // Null for slot 0; NotFound.
  absl::StatusOr<const PromptLookup*> Find(StrategySlot slot) const;
  void Clear() { registered_.clear(); }  // built-in ones stay

 private:
  const StrategyOffer offer_;
  const PromptLookup built_in_;
  std::map<StrategySlot, PromptLookup> registered_;
  uint32_t last_slot_ = static_cast<uint32_t>(kPromptLookupSlot);
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_STRATEGY_H_
