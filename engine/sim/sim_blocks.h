#ifndef SUPERFLUID_ENGINE_SIM_SIM_BLOCKS_H_
#define SUPERFLUID_ENGINE_SIM_SIM_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/cache/prefix_cache.h"
#include "engine/sim/sim_model.h"

namespace superfluid {

// The device memory of kSimBlockTokens tokens: their rows and the recurrent state behind them.
struct SimBlock {
  std::array<SimRow, kSimBlockTokens> rows{};
};
inline constexpr uint64_t kSimBlockBytes = kSimBlockTokens * kSimRowBytes + kSimRecurrentBytes;

// Owners share a block; who wants to change one that has other owners takes a copy.
using SimBlockRef = std::shared_ptr<SimBlock>;

// A block of a cached prefix, with the recurrent state behind it.
struct SimCachedBlock {
  SimBlockRef block;
  SimRecurrent after{};
};

// The same as the prefix cache keeps it.
class SimCacheEntry : public CachedBlock {
 public:
  explicit SimCacheEntry(SimCachedBlock kept) : cached(std::move(kept)) {}
  bool InUse() const override { return cached.block.use_count() > 1; }

  const SimCachedBlock cached;
};

// Blocks that an import holds before it takes effect. They count as tentative until taken.
class SimTentativeBlocks {
 public:
  SimTentativeBlocks(std::vector<SimBlockRef> blocks, std::shared_ptr<uint64_t> count);
  SimTentativeBlocks(const SimTentativeBlocks&) = delete;
  SimTentativeBlocks& operator=(const SimTentativeBlocks&) = delete;
  ~SimTentativeBlocks();

  // They are the caller's, and no longer tentative.
  std::vector<SimBlockRef> Take();

 private:
  std::vector<SimBlockRef> blocks_;
  std::shared_ptr<uint64_t> count_;
};

// A bounded number of blocks. Threads: one. Lifetime: blocks may outlive the pool.
class SimBlockPool {
 public:
  explicit SimBlockPool(uint64_t limit) : limit_(limit) {}

  // Called when the pool is full: frees a block, or says that it cannot.
  void set_reclaim(std::function<bool()> reclaim) { reclaim_ = std::move(reclaim); }

  // A block of zeros; null: every block is in use and none can be reclaimed.
  SimBlockRef Take();
  // `count` blocks; null (and none is taken) if there are not as many.
  std::unique_ptr<SimTentativeBlocks> TakeTentative(uint64_t count);

  uint64_t limit() const { return limit_; }
  // Blocks that exist, tentative ones included.
  uint64_t live() const { return *live_; }
  uint64_t tentative() const { return *tentative_; }

 private:
  const uint64_t limit_;
  std::function<bool()> reclaim_;
  const std::shared_ptr<uint64_t> live_ = std::make_shared<uint64_t>(0);
  const std::shared_ptr<uint64_t> tentative_ = std::make_shared<uint64_t>(0);
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_BLOCKS_H_
