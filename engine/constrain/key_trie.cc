#include <algorithm>

#include "engine/constrain/grammar.h"

// Of KeyTrie.
namespace superfluid {
namespace {

using Edge = std::pair<uint8_t, uint32_t>;

bool IsBelow(const Edge& edge, uint8_t byte) { return edge.first < byte; }

}  // namespace

void KeyTrie::Add(absl::string_view text, int32_t position, CompileBudget& budget) {
  const bool allowed = position >= 0;
  uint32_t at = 0;
  if (allowed) nodes_[0].below.push_back(static_cast<uint32_t>(position));
  for (const char c : text) {
    if (!budget.Spend() || !budget.Hold(sizeof(uint32_t))) return;
    const auto byte = static_cast<uint8_t>(c);
    const uint32_t known = Next(at, byte);
    const auto next = known != kNoNode ? known : static_cast<uint32_t>(nodes_.size());
    if (known == kNoNode) {
      if (!budget.Hold(sizeof(Node) + sizeof(Edge))) return;
      auto& edges = nodes_[at].next;
      edges.insert(std::lower_bound(edges.begin(), edges.end(), byte, IsBelow), {byte, next});
      nodes_.emplace_back();
    }
    at = next;
    if (allowed) nodes_[at].below.push_back(static_cast<uint32_t>(position));
  }
  nodes_[at].leaf = position;
}

uint32_t KeyTrie::Next(uint32_t node, uint8_t byte) const {
  const auto& edges = nodes_[node].next;
  const auto found = std::lower_bound(edges.begin(), edges.end(), byte, IsBelow);
  return found != edges.end() && found->first == byte ? found->second : kNoNode;
}

bool KeyTrie::Reaches(uint32_t node, uint32_t low, uint32_t high) const {
  const auto& below = nodes_[node].below;
  const auto found = std::lower_bound(below.begin(), below.end(), low);
  return found != below.end() && *found <= high;
}

}  // namespace superfluid
