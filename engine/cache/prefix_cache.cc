#include "engine/sim/sim_cache.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_set.h"

namespace superfluid {
namespace {

constexpr SimCacheNode kRoot{0};
constexpr uint64_t kShortPrefix = 256;
constexpr uint64_t kMiddlePrefix = 2048;

uint32_t ClassOf(uint64_t end) {
  if (end <= kShortPrefix) return 0;
  return end <= kMiddlePrefix ? 1 : 2;
}

std::vector<uint64_t> Unique(absl::Span<const uint64_t> deps) {
  std::vector<uint64_t> unique;
  for (const uint64_t dep : deps) {
    if (std::find(unique.begin(), unique.end(), dep) == unique.end()) unique.push_back(dep);
  }
  return unique;
}

bool StartsWith(const std::vector<uint64_t>& whole, const std::vector<uint64_t>& start) {
  return start.size() <= whole.size() && std::equal(start.begin(), start.end(), whole.begin());
}

}  // namespace

SimCache::Key SimCache::KeyAt(const Prefix& prefix, SimCacheNode parent, uint64_t start) {
  Key key;
  key.parent = parent;
  key.adapter = prefix.adapter;
  std::copy_n(prefix.tokens.begin() + static_cast<ptrdiff_t>(start), kSimBlockTokens,
              key.tokens.begin());
  if (prefix.media == nullptr) return key;
  for (size_t i = 0; i < kSimBlockTokens; ++i) key.media[i] = SimMediaAt(*prefix.media, start + i);
  return key;
}

SimCacheNode SimCache::Find(const Prefix& prefix) const {
  SimCacheNode node = kRoot;
  for (uint64_t at = 0; at + kSimBlockTokens <= prefix.tokens.size(); at += kSimBlockTokens) {
    const auto found = index_.find(KeyAt(prefix, node, at));
    if (found == index_.end()) break;
    node = found->second;
  }
  return node;
}

// The children for these tokens, whatever their media.
std::vector<SimCacheNode> SimCache::ChildrenWith(SimCacheNode parent, uint64_t adapter,
                                                 absl::Span<const Token> tokens) const {
  Key key = KeyAt({tokens, nullptr, adapter}, parent, 0);
  std::vector<SimCacheNode> children;
  for (auto it = index_.lower_bound(key); it != index_.end(); ++it) {
    const Key& found = it->first;
    if (found.parent != parent || found.adapter != adapter || found.tokens != key.tokens) break;
    children.push_back(it->second);
  }
  return children;
}

SimCacheNode SimCache::FindByDeps(absl::Span<const Token> tokens, absl::Span<const uint64_t> deps,
                                  uint64_t adapter) const {
  const std::vector<uint64_t> wanted = Unique(deps);
  std::vector<SimCacheNode> level = {kRoot};
  SimCacheNode best = kRoot;
  for (uint64_t at = 0; at + kSimBlockTokens <= tokens.size() && !level.empty();
       at += kSimBlockTokens) {
    std::vector<SimCacheNode> next;
    for (const SimCacheNode parent : level) {
      for (const SimCacheNode child :
           ChildrenWith(parent, adapter, tokens.subspan(at, kSimBlockTokens))) {
        const Node& node = nodes_.at(child);
        if (StartsWith(wanted, node.deps)) next.push_back(child);
        if (node.deps == wanted) best = child;
      }
    }
    level = std::move(next);
  }
  return best;
}

std::vector<SimCacheNode> SimCache::FindAll(absl::Span<const Token> tokens) const {
  std::vector<SimCacheNode> level;
  absl::flat_hash_set<uint64_t> adapters;
  for (const auto& [key, node] : index_) {
    if (key.parent != kRoot) break;  // the root's children come first
    adapters.insert(key.adapter);
  }
  for (const uint64_t adapter : adapters) {
    std::vector<SimCacheNode> same = {kRoot};
    for (uint64_t at = 0; at < tokens.size(); at += kSimBlockTokens) {
      std::vector<SimCacheNode> next;
      for (const SimCacheNode parent : same) {
        const auto found = ChildrenWith(parent, adapter, tokens.subspan(at, kSimBlockTokens));
        next.insert(next.end(), found.begin(), found.end());
      }
      same = std::move(next);
    }
    level.insert(level.end(), same.begin(), same.end());
  }
  return level;
}

std::vector<SimCacheNode> SimCache::Path(SimCacheNode node) const {
  std::vector<SimCacheNode> path;
  for (; node != kRoot; node = nodes_.at(node).key.parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

bool SimCache::IsPrefix(SimCacheNode node, const Prefix& prefix) const {
  if (EndOf(node) > prefix.tokens.size()) return false;
  while (node != kRoot) {
    const Node& at = nodes_.at(node);
    if (at.key != KeyAt(prefix, at.key.parent, at.end - kSimBlockTokens)) return false;
    node = at.key.parent;
  }
  return true;
}

void SimCache::Touch(SimCacheNode node) {
  Node& touched = nodes_.at(node);
  const bool leaf = leaves_.erase({touched.used_at, node}) == 1;
  touched.used_at = ++clock_;
  if (leaf) leaves_.insert({touched.used_at, node});
}

std::vector<SimCachedBlock> SimCache::Use(SimCacheNode node) {
  std::vector<SimCachedBlock> blocks;
  for (const SimCacheNode at : Path(node)) {
    Touch(at);
    blocks.push_back(nodes_.at(at).cached);
  }
  return blocks;
}

uint64_t SimCache::EndOf(SimCacheNode node) const {
  return node == kRoot ? 0 : nodes_.at(node).end;
}

SimCacheNode SimCache::AddNode(const Key& key, const SimCachedBlock& cached) {
  const SimCacheNode id{++last_node_};
  Node node;
  node.key = key;
  node.cached = cached;
  node.provenance = SimProvenance(key.adapter);
  if (key.parent != kRoot) {
    Node& parent = nodes_.at(key.parent);
    node.deps = parent.deps;
    node.provenance = parent.provenance;
    node.end = parent.end;
    if (parent.children++ == 0) leaves_.erase({parent.used_at, key.parent});
  }
  node.end += kSimBlockTokens;
  for (size_t i = 0; i < kSimBlockTokens; ++i) {
    node.provenance.Add(key.tokens[i], key.media[i]);
    if (key.media[i] != 0) node.deps.push_back(key.media[i]);
  }
  node.deps = Unique(node.deps);
  node.used_at = ++clock_;
  leaves_.insert({node.used_at, id});
  index_.emplace(key, id);
  nodes_.emplace(id, std::move(node));
  return id;
}

SimCacheNode SimCache::Insert(const Prefix& prefix, absl::Span<const SimCachedBlock> blocks) {
  SimCacheNode node = kRoot;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Key key = KeyAt(prefix, node, i * kSimBlockTokens);
    const auto found = index_.find(key);
    if (found == index_.end()) {
      node = AddNode(key, blocks[i]);
    } else {
      node = found->second;
      Touch(node);
    }
  }
  return node;
}

std::vector<const SimBlock*> SimCache::Blocks() const {
  std::vector<const SimBlock*> blocks;
  for (const auto& [id, node] : nodes_) blocks.push_back(node.cached.block.get());
  return blocks;
}

uint64_t SimCache::EvictableBytes() const {
  absl::flat_hash_set<uint64_t> held;
  // Children have greater numbers than their parents.
  for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {  // NOLINT(modernize-loop-convert)
    const auto& [id, node] = *it;
    const bool free = IsEvictable(node) && !held.contains(static_cast<uint64_t>(id));
    if (!free) {
      held.insert(static_cast<uint64_t>(id));
      held.insert(static_cast<uint64_t>(node.key.parent));
    }
  }
  held.erase(0);
  return (nodes_.size() - held.size()) * kSimBlockBytes;
}

bool SimCache::CheckInvariants() const {
  std::map<SimCacheNode, uint32_t> children;
  size_t found = 0;
  for (const auto& [id, node] : nodes_) {
    if (node.key.parent != kRoot) ++children[node.key.parent];
    if (node.cached.block == nullptr || node.end % kSimBlockTokens != 0) return false;
    found += node.forgotten ? 0 : 1;
  }
  size_t leaves = 0;
  for (const auto& [id, node] : nodes_) {
    const bool leaf = children[id] == 0;
    if (node.children != children[id]) return false;
    if (leaf != (leaves_.count({node.used_at, id}) == 1)) return false;
    if (node.forgotten && leaf && node.pins == 0) return false;  // should have gone
    leaves += leaf ? 1 : 0;
  }
  return found == index_.size() && leaves == leaves_.size();
}

bool SimCache::IsEvictable(const Node& node) const {
  return node.pins == 0 && node.cached.block.use_count() == 1;
}

void SimCache::Remove(SimCacheNode node) {
  const auto found = nodes_.find(node);
  const SimCacheNode parent = found->second.key.parent;
  leaves_.erase({found->second.used_at, node});
  if (!found->second.forgotten) index_.erase(found->second.key);
  nodes_.erase(found);
  if (parent == kRoot) return;
  Node& above = nodes_.at(parent);
  if (--above.children == 0) leaves_.insert({above.used_at, parent});
}

// A forgotten node goes with the last that holds it, and so may those above it.
void SimCache::RemoveIfUnheld(SimCacheNode node) {
  while (node != kRoot) {
    const Node& at = nodes_.at(node);
    if (!at.forgotten || at.pins > 0 || at.children > 0) return;
    const SimCacheNode parent = at.key.parent;
    Remove(node);
    node = parent;
  }
}

void SimCache::Pin(SimCacheNode node) { ++nodes_.at(node).pins; }

void SimCache::Unpin(SimCacheNode node) {
  --nodes_.at(node).pins;
  RemoveIfUnheld(node);
}

void SimCache::ForgetOne(SimCacheNode node) {
  Node& gone = nodes_.at(node);
  if (!gone.forgotten) index_.erase(gone.key);
  gone.forgotten = true;
}

void SimCache::Forget(SimCacheNode node) {
  // Children have greater numbers than their parents: one pass finds all that extend it.
  std::vector<SimCacheNode> gone;
  std::set<SimCacheNode> below = {node};
  for (auto it = nodes_.find(node); it != nodes_.end(); ++it) {
    if (it->first != node && !below.contains(it->second.key.parent)) continue;
    below.insert(it->first);
    gone.push_back(it->first);
  }
  for (const SimCacheNode at : gone) ForgetOne(at);
  std::reverse(gone.begin(), gone.end());
  for (const SimCacheNode at : gone) {
    if (nodes_.contains(at)) RemoveIfUnheld(at);
  }
}

void SimCache::ForgetByProvenance(const std::set<Digest>& provenances) {
  std::vector<SimCacheNode> found;
  for (const auto& [id, node] : nodes_) {
    if (provenances.count(node.provenance.digest()) == 1) found.push_back(id);
  }
  for (const SimCacheNode node : found) {
    if (nodes_.count(node) == 1) Forget(node);
  }
}

uint64_t SimCache::Evict(uint64_t target, const EvictPolicy& policy) {
  const auto may_go = [&](SimCacheNode id) {
    const Node& node = nodes_.at(id);
    return IsEvictable(node) && ((policy.classes >> ClassOf(node.end)) & 1U) != 0;
  };
  std::set<Age> ready;
  for (const Age& leaf : leaves_) {
    if (may_go(leaf.second)) ready.insert(leaf);
  }
  const uint64_t most =
      policy.max_bytes == 0 ? std::numeric_limits<uint64_t>::max() : policy.max_bytes;
  uint64_t freed = 0;
  while (freed < target && !ready.empty() && most - freed >= kSimBlockBytes) {
    if (bytes() - kSimBlockBytes < policy.protected_bytes) break;
    const SimCacheNode node = ready.begin()->second;
    const SimCacheNode parent = nodes_.at(node).key.parent;
    ready.erase(ready.begin());
    Remove(node);
    freed += kSimBlockBytes;
    if (parent == kRoot || nodes_.at(parent).children > 0 || !may_go(parent)) continue;
    ready.insert({nodes_.at(parent).used_at, parent});
  }
  return freed;
}

bool SimCache::EvictOne() {
  const auto oldest = std::find_if(leaves_.begin(), leaves_.end(), [this](const auto& leaf) {
    return IsEvictable(nodes_.at(leaf.second));
  });
  if (oldest == leaves_.end()) return false;
  const SimCacheNode id = oldest->second;
  Remove(id);
  return true;
}

void SimCache::Clear() {
  nodes_.clear();
  index_.clear();
  leaves_.clear();
}

}  // namespace superfluid
