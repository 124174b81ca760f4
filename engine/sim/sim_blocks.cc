#include "engine/sim/sim_blocks.h"

#include <utility>

namespace superfluid {

SimTentativeBlocks::SimTentativeBlocks(std::vector<SimBlockRef> blocks,
                                       std::shared_ptr<uint64_t> count)
    : blocks_(std::move(blocks)), count_(std::move(count)) {
  *count_ += blocks_.size();
}

SimTentativeBlocks::~SimTentativeBlocks() { *count_ -= blocks_.size(); }

std::vector<SimBlockRef> SimTentativeBlocks::Take() {
  *count_ -= blocks_.size();
  return std::exchange(blocks_, {});
}

SimBlockRef SimBlockPool::Take() {
  while (*live_ >= limit_) {
    if (reclaim_ == nullptr || !reclaim_()) return nullptr;
  }
  auto block = std::make_unique<SimBlock>();
  ++*live_;
  return {block.release(), [live = live_](SimBlock* gone) {
            --*live;
            std::default_delete<SimBlock>()(gone);
          }};
}

std::unique_ptr<SimTentativeBlocks> SimBlockPool::TakeTentative(uint64_t count) {
  if (count > limit_) return nullptr;
  std::vector<SimBlockRef> blocks;
  for (uint64_t i = 0; i < count; ++i) {
    SimBlockRef block = Take();
    if (block == nullptr) return nullptr;
    blocks.push_back(std::move(block));
  }
  return std::make_unique<SimTentativeBlocks>(std::move(blocks), tentative_);
}

}  // namespace superfluid
