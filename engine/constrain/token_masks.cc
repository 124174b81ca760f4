#include "engine/constrain/token_masks.h"

#include <algorithm>
#include <bit>

#include "engine/constrain/string_table.h"

namespace superfluid {
namespace {

using Kind = GrammarNode::Kind;

constexpr size_t kBytesOfPlace = 96;  // of a place in the tree of frames, with its key
constexpr size_t kListLimit = 32;     // a list has at most this part of all tokens
constexpr uint32_t kRoomNode = kNoNode - 1;

// Returns how far two counts are from the bounds of a node, as far as `most` more can tell.
uint32_t Distances(const GrammarNode& node, uint32_t count, uint32_t most) {
  const uint32_t low = node.min > count ? std::min(node.min - count, most) : 0;
  const uint32_t high = node.max == kNoLimit ? most : std::min(node.max - count, most);
  return low << 16U | high;
}

}  // namespace

Frame TokenMasks::Canonical(const Stacks& stacks, const Frame& frame) const {
  if (frame.node == kNoNode) return frame;
  const GrammarNode& node = stacks.grammar().nodes[frame.node];
  const uint32_t most = vocabulary_.longest() + 1;
  Frame canonical = frame;
  if (node.kind == Kind::kString) {
    canonical.count = Distances(node, frame.count, most);
  } else if (node.kind == Kind::kArray) {
    const bool in_prefix = frame.count < node.prefix.size();
    canonical.count = in_prefix ? 0x80000000U | frame.count : Distances(node, frame.count, most);
  } else if (node.lengths != nullptr) {
    canonical.count = node.lengths->Canonical(frame.count, node.min, node.max, most);
  }
  return canonical;
}

bool TokenMasks::RoomFrame(const Stacks& stacks, uint32_t top, Frame& room) const {
  const uint32_t left = kMaxValueDepth - std::min(kMaxValueDepth, stacks.at(top).depth);
  if (left >= vocabulary_.longest() + stacks.grammar().tallest + 1) return false;
  room.node = kRoomNode;
  room.count = left;
  return true;
}

const TokenMask* TokenMasks::Find(const Stacks& stacks, uint32_t top) const {
  uint32_t place = 0;
  const auto descend = [&](const Frame& frame) {
    const auto child = children_.find({place, frame});
    if (child == children_.end()) return false;
    place = child->second;
    return true;
  };
  Frame room;
  if (RoomFrame(stacks, top, room) && !descend(room)) return nullptr;
  for (uint32_t at = top; at != kNoNode; at = stacks.at(at).parent) {
    if (!descend(Canonical(stacks, stacks.at(at).frame))) return nullptr;
    if (mask_at_[place] != kNoMask) return &masks_[mask_at_[place]];
  }
  return nullptr;
}

uint32_t TokenMasks::Descend(uint32_t above, const Frame& frame) {
  const auto [child, fresh] =
      children_.try_emplace({above, frame}, static_cast<uint32_t>(mask_at_.size()));
  if (fresh) {
    mask_at_.push_back(kNoMask);
    bytes_ += kBytesOfPlace;
  }
  return child->second;
}

void TokenMasks::File(const Stacks& stacks, uint32_t top, uint32_t lowest, uint32_t mask) {
  Frame room;
  uint32_t place = RoomFrame(stacks, top, room) ? Descend(0, room) : 0;
  for (uint32_t at = top; at != kNoNode && stacks.at(at).depth >= lowest;
       at = stacks.at(at).parent) {
    place = Descend(place, Canonical(stacks, stacks.at(at).frame));
  }
  mask_at_[place] = mask;
}

const TokenMask& TokenMasks::Make(Stacks& stacks, uint32_t top) {
  const size_t mark = stacks.Mark();
  TokenMask mask;
  stacks.BeginWatch(stacks.at(top).depth);
  scratch_.assign(vocabulary_.words(), 0);
  WalkAny(stacks, top, mask);
  WalkSpelled(stacks, top);
  mask.ends = stacks.MayEnd(top);
  stacks.Release(mark);
  Fill(mask);
  File(stacks, top, stacks.lowest(), static_cast<uint32_t>(masks_.size()));
  bytes_ += mask.bytes();
  masks_.push_back(std::move(mask));
  return masks_.back();
}

void TokenMasks::Fill(TokenMask& mask) const {
  size_t count = 0;
  for (const uint64_t word : scratch_) count += static_cast<size_t>(std::popcount(word));
  if (mask.base == nullptr && count * kListLimit > vocabulary_.size()) {
    mask.bits = scratch_;
    return;
  }
  mask.list.reserve(count);
  for (size_t i = 0; i < scratch_.size(); ++i) {
    for (uint64_t word = scratch_[i]; word != 0; word &= word - 1) {
      mask.list.push_back(static_cast<Token>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
    }
  }
}

void TokenMasks::MakeRoom() {
  if (bytes_ > kMaxBytes) Clear();  // Keeps invariant 2.
}

void TokenMasks::Clear() {
  children_ = {};
  mask_at_.assign(1, kNoMask);
  masks_.clear();
  bytes_ = 0;
}

}  // namespace superfluid
