#include "engine/cache/prefix_cache.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace superfluid {
namespace {

constexpr CacheNode kRoot{0};
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

PrefixCache::Key PrefixCache::KeyAt(const Prefix& prefix, CacheNode parent, uint64_t start) {
  Key key;
  key.parent = parent;
  key.adapter = prefix.adapter;
  std::copy_n(prefix.tokens.begin() + static_cast<ptrdiff_t>(start), kCacheBlockTokens,
              key.tokens.begin());
  if (prefix.media == nullptr) return key;
  for (size_t i = 0; i < kCacheBlockTokens; ++i) key.media[i] = MediaAt(*prefix.media, start + i);
  return key;
}

CacheNode PrefixCache::Find(const Prefix& prefix) const {
  CacheNode node = kRoot;
  for (uint64_t at = 0; at + kCacheBlockTokens <= prefix.tokens.size(); at += kCacheBlockTokens) {
    const auto found = index_.find(KeyAt(prefix, node, at));
    if (found == index_.end()) break;
    node = found->second;
  }
  return node;
}

// The children for these tokens, whatever their media.
std::vector<CacheNode> PrefixCache::ChildrenWith(CacheNode parent, uint64_t adapter,
                                                 absl::Span<const Token> tokens) const {
  const Key key = KeyAt({tokens, nullptr, adapter}, parent, 0);
  std::vector<CacheNode> children;
  for (auto it = index_.lower_bound(key); it != index_.end(); ++it) {
    const Key& found = it->first;
    if (found.parent != parent || found.adapter != adapter || found.tokens != key.tokens) break;
    children.push_back(it->second);
  }
  return children;
}

CacheNode PrefixCache::FindByDeps(absl::Span<const Token> tokens, absl::Span<const uint64_t> deps,
                                  uint64_t adapter) const {
  const std::vector<uint64_t> wanted = Unique(deps);
  std::vector<CacheNode> level = {kRoot};
  CacheNode best = kRoot;
  for (uint64_t at = 0; at + kCacheBlockTokens <= tokens.size() && !level.empty();
       at += kCacheBlockTokens) {
    std::vector<CacheNode> next;
    for (const CacheNode parent : level) {
      for (const CacheNode child :
           ChildrenWith(parent, adapter, tokens.subspan(at, kCacheBlockTokens))) {
        const Node& node = nodes_.at(child);
        if (StartsWith(wanted, node.deps)) next.push_back(child);
        if (node.deps == wanted) best = child;
      }
    }
    level = std::move(next);
  }
  return best;
}

std::vector<CacheNode> PrefixCache::FindAll(absl::Span<const Token> tokens) const {
  std::vector<CacheNode> level;
  absl::flat_hash_set<uint64_t> adapters;
  for (const auto& [key, node] : index_) {
    if (key.parent != kRoot) break;  // the root's children come first
    adapters.insert(key.adapter);
  }
  for (const uint64_t adapter : adapters) {
    std::vector<CacheNode> same = {kRoot};
    for (uint64_t at = 0; at < tokens.size(); at += kCacheBlockTokens) {
      std::vector<CacheNode> next;
      for (const CacheNode parent : same) {
        const auto found = ChildrenWith(parent, adapter, tokens.subspan(at, kCacheBlockTokens));
        next.insert(next.end(), found.begin(), found.end());
      }
      same = std::move(next);
    }
    level.insert(level.end(), same.begin(), same.end());
  }
  return level;
}

std::vector<CacheNode> PrefixCache::Path(CacheNode node) const {
  std::vector<CacheNode> path;
  for (; node != kRoot; node = nodes_.at(node).key.parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

bool PrefixCache::IsPrefix(CacheNode node, const Prefix& prefix) const {
  if (EndOf(node) > prefix.tokens.size()) return false;
  while (node != kRoot) {
    const Node& at = nodes_.at(node);
    if (at.key != KeyAt(prefix, at.key.parent, at.end - kCacheBlockTokens)) return false;
    node = at.key.parent;
  }
  return true;
}

void PrefixCache::Touch(CacheNode node) {
  Node& touched = nodes_.at(node);
  const bool leaf = leaves_.erase({touched.used_at, node}) == 1;
  touched.used_at = ++clock_;
  if (leaf) leaves_.insert({touched.used_at, node});
}

std::vector<CachedBlockRef> PrefixCache::Use(CacheNode node) {
  std::vector<CachedBlockRef> blocks;
  for (const CacheNode at : Path(node)) {
    Touch(at);
    blocks.push_back(nodes_.at(at).cached);
  }
  return blocks;
}

uint64_t PrefixCache::EndOf(CacheNode node) const {
  return node == kRoot ? 0 : nodes_.at(node).end;
}

CacheNode PrefixCache::AddNode(const Key& key, CachedBlockRef cached) {
  const CacheNode id{++last_node_};
  Node node;
  node.key = key;
  node.cached = std::move(cached);
  node.provenance = TokenProvenance(key.adapter);
  if (key.parent != kRoot) {
    Node& parent = nodes_.at(key.parent);
    node.deps = parent.deps;
    node.provenance = parent.provenance;
    node.end = parent.end;
    if (parent.children++ == 0) leaves_.erase({parent.used_at, key.parent});
  }
  node.end += kCacheBlockTokens;
  for (size_t i = 0; i < kCacheBlockTokens; ++i) {
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

CacheNode PrefixCache::Insert(const Prefix& prefix, absl::Span<const CachedBlockRef> blocks) {
  CacheNode node = kRoot;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Key key = KeyAt(prefix, node, i * kCacheBlockTokens);
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

std::vector<const CachedBlock*> PrefixCache::Blocks() const {
  std::vector<const CachedBlock*> blocks;
  for (const auto& [id, node] : nodes_) blocks.push_back(node.cached.get());
  return blocks;
}

uint64_t PrefixCache::EvictableBytes() const {
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
  return (nodes_.size() - held.size()) * block_bytes_;
}

bool PrefixCache::CheckInvariants() const {
  std::map<CacheNode, uint32_t> children;
  size_t found = 0;
  for (const auto& [id, node] : nodes_) {
    if (node.key.parent != kRoot) ++children[node.key.parent];
    if (node.cached == nullptr || node.end % kCacheBlockTokens != 0) return false;
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

bool PrefixCache::IsEvictable(const Node& node) const {
  return node.pins == 0 && !node.cached->InUse();
}

void PrefixCache::Remove(CacheNode node) {
  const auto found = nodes_.find(node);
  const CacheNode parent = found->second.key.parent;
  leaves_.erase({found->second.used_at, node});
  if (!found->second.forgotten) index_.erase(found->second.key);
  nodes_.erase(found);
  if (parent == kRoot) return;
  Node& above = nodes_.at(parent);
  if (--above.children == 0) leaves_.insert({above.used_at, parent});
}

// A forgotten node goes with the last that holds it, and so may those above it.
void PrefixCache::RemoveIfUnheld(CacheNode node) {
  while (node != kRoot) {
    const Node& at = nodes_.at(node);
    if (!at.forgotten || at.pins > 0 || at.children > 0) return;
    const CacheNode parent = at.key.parent;
    Remove(node);
    node = parent;
  }
}

void PrefixCache::Pin(CacheNode node) { ++nodes_.at(node).pins; }

void PrefixCache::Unpin(CacheNode node) {
  --nodes_.at(node).pins;
  RemoveIfUnheld(node);
}

void PrefixCache::ForgetOne(CacheNode node) {
  Node& gone = nodes_.at(node);
  if (!gone.forgotten) index_.erase(gone.key);
  gone.forgotten = true;
}

void PrefixCache::Forget(CacheNode node) {
  // Children have greater numbers than their parents: one pass finds all that extend it.
  std::vector<CacheNode> gone;
  std::set<CacheNode> below = {node};
  for (auto it = nodes_.find(node); it != nodes_.end(); ++it) {
    if (it->first != node && !below.contains(it->second.key.parent)) continue;
    below.insert(it->first);
    gone.push_back(it->first);
  }
  for (const CacheNode at : gone) ForgetOne(at);
  std::reverse(gone.begin(), gone.end());
  for (const CacheNode at : gone) {
    if (nodes_.contains(at)) RemoveIfUnheld(at);
  }
}

void PrefixCache::ForgetByProvenance(const std::set<Digest>& provenances) {
  std::vector<CacheNode> found;
  for (const auto& [id, node] : nodes_) {
    if (provenances.count(node.provenance.digest()) == 1) found.push_back(id);
  }
  for (const CacheNode node : found) {
    if (nodes_.count(node) == 1) Forget(node);
  }
}

uint64_t PrefixCache::Evict(uint64_t target, const EvictPolicy& policy) {
  const auto may_go = [&](CacheNode id) {
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
  while (freed < target && !ready.empty() && most - freed >= block_bytes_) {
    if (bytes() - block_bytes_ < policy.protected_bytes) break;
    const CacheNode node = ready.begin()->second;
    const CacheNode parent = nodes_.at(node).key.parent;
    ready.erase(ready.begin());
    Remove(node);
    freed += block_bytes_;
    if (parent == kRoot || nodes_.at(parent).children > 0 || !may_go(parent)) continue;
    ready.insert({nodes_.at(parent).used_at, parent});
  }
  return freed;
}

bool PrefixCache::EvictOldest(bool in_use_too) {
  const auto oldest = std::find_if(leaves_.begin(), leaves_.end(), [&](const auto& leaf) {
    const Node& node = nodes_.at(leaf.second);
    return IsEvictable(node) || (in_use_too && node.pins == 0);
  });
  if (oldest == leaves_.end()) return false;
  const CacheNode id = oldest->second;
  Remove(id);
  return true;
}

bool PrefixCache::EvictOne() { return EvictOldest(/*in_use_too=*/false); }

bool PrefixCache::EvictOneInUse() { return EvictOldest(/*in_use_too=*/true); }

void PrefixCache::Clear() {
  nodes_.clear();
  index_.clear();
  leaves_.clear();
}

}  // namespace superfluid
