#include "engine/sim/sim_generation.h"

#include <set>
#include <string>
#include <utility>

namespace superfluid {
namespace {

// Breaks the contract in the way asked for, in the first lane that there is.
void Spoil(const std::string& how, uint32_t vocab, std::vector<LaneResult>& results) {
  LaneResult& first = results.front();
  if (how == "too_many_tokens") {
    first.tokens.resize(kMaxLaneTokens + 1, 1);
  } else if (how == "bad_token") {
    first.tokens.assign(1, vocab);
  } else if (how == "zero_handle") {
    first.sequence = {};
  } else if (how == "wrong_sequence") {
    first.sequence = SequenceHandle{static_cast<uint64_t>(first.sequence) + 1'000'003};
  } else if (how == "too_many_logits") {
    first.logits.resize(kMaxLaneLogits + 1);
  } else {
    results.pop_back();
  }
}

}  // namespace

SimGeneration::SimGeneration(const SimOptions& options, std::shared_ptr<SimClock> clock)
    : SessionGeneration(std::make_unique<SimTokenModel>(options, std::move(clock))) {}

absl::StatusOr<std::vector<LaneResult>> SimGeneration::RunTick(const Tick& tick,
                                                               const CancelToken& token,
                                                               TickHost& host) {
  absl::StatusOr<std::vector<LaneResult>> results = SessionGeneration::RunTick(tick, token, host);
  const SimGenerationFaults& faults = sim().options.faults;
  if (results.ok() && static_cast<SimStep>(session().ticks) == faults.wrong_at_tick) {
    Spoil(faults.wrong_result, sim().options.vocab, *results);
  }
  return results;
}

bool SimGeneration::CheckInvariants() const {
  std::set<const SimBlock*> blocks;
  for (const CachedBlock* entry : session().cache.Blocks()) {
    blocks.insert(static_cast<const SimCacheEntry*>(entry)->cached.block.get());
  }
  for (const auto& [handle, sequence] : session().sequences.all()) {
    for (const SimBlockRef& block : static_cast<const SimSequence&>(*sequence).blocks()) {
      blocks.insert(block.get());
    }
  }
  blocks.erase(nullptr);
  const SimBlockPool& pool = sim().pool;
  return SessionGeneration::CheckInvariants() && pool.live() <= pool.limit() &&
         blocks.size() == pool.live() - pool.tentative();
}

}  // namespace superfluid
