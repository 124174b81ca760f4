#ifndef SUPERFLUID_ENGINE_SIM_SIM_DRAFTERS_H_
#define SUPERFLUID_ENGINE_SIM_SIM_DRAFTERS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/generation/drafter.h"
#include "engine/sampling/strategy_check.h"

namespace superfluid {

inline constexpr char kSimNgram[] = "sim.ngram";
inline constexpr char kSimOracle[] = "sim.oracle";

// Drafts of which some are made wrong on purpose.
class SimDrafter final : public Drafter {
 public:
  struct Options {
    bool oracle = false;  // draws ahead by itself; otherwise looks up the last n-gram
    uint32_t n = 2;       // "n", [1, 16]
    uint32_t drafts = 4;  // "drafts": at a time, [1, 64]
    uint32_t wrong = 25;  // "wrong": so many of 100 are made wrong, [0, 100]
  };

  // `vocab`: tokens are below it.
  SimDrafter(Options options, uint32_t vocab) : options_(options), vocab_(vocab) {}

  std::vector<Token> Draft(const DraftPoint& from) const override;
  // The artifacts decide which drafts are wrong. NotFound.
  absl::Status ReadArtifacts(absl::Span<const StrategyArtifact> artifacts) override;
  uint64_t ReservedBytes(const StrategySpec& spec) const override { return spec.est_state_bytes; }

  const Options& options() const { return options_; }

 private:
  const Options options_;
  const uint32_t vocab_;
  uint64_t salt_ = 0;
};

// Names are kSimNgram and kSimOracle. Unimplemented, InvalidArgument.
absl::StatusOr<std::unique_ptr<Drafter>> MakeSimDrafter(const StrategyId& id, uint32_t vocab);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_DRAFTERS_H_
