#ifndef SUPERFLUID_ENGINE_SIM_SIM_CACHE_H_
#define SUPERFLUID_ENGINE_SIM_SIM_CACHE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/generation.h"
#include "engine/sim/sim_blocks.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {

// A cached block at the end of a cached prefix; 0: the empty prefix.
enum class SimCacheNode : uint64_t {};

// The prefix cache: a tree of blocks of kSimBlockTokens tokens. A node is found by all tokens up to
// its end, the media that they stand for and the adapter they were computed under. Its cache class
// is 0 if it ends within the first 256 tokens, 1 within the first 2048, else 2.
//
// A node goes when it is the least recently used one, no other extends it, no lease pins it and no
// sequence uses its block. Forgotten nodes are found no more but stay while they are pinned.
//
// Threads: one.
class SimCache {
 public:
  // What is looked up. `media`: by position, exact.
  struct Prefix {
    absl::Span<const Token> tokens;
    const SimMediaMap* media = nullptr;
    uint64_t adapter = 0;
  };

  // The longest cached prefix, of whole blocks.
  SimCacheNode Find(const Prefix& prefix) const;
  // The same for a peer that knows which media the tokens stand for, but not where: the longest
  // prefix that stands for exactly these.
  SimCacheNode FindByDeps(absl::Span<const Token> tokens, absl::Span<const uint64_t> deps,
                          uint64_t adapter) const;
  // Every node for exactly these tokens, whatever the media and adapter.
  std::vector<SimCacheNode> FindAll(absl::Span<const Token> tokens) const;
  // Whether what is cached at `node` is a prefix of this; also of a forgotten node.
  bool IsPrefix(SimCacheNode node, const Prefix& prefix) const;

  // The blocks from the first to this one. They count as used now.
  std::vector<SimCachedBlock> Use(SimCacheNode node);
  uint64_t EndOf(SimCacheNode node) const;

  // Adds what is not there yet, as many blocks as `blocks` has. Returns the last node.
  SimCacheNode Insert(const Prefix& prefix, absl::Span<const SimCachedBlock> blocks);

  void Pin(SimCacheNode node);
  void Unpin(SimCacheNode node);
  // With all that extend it.
  void Forget(SimCacheNode node);
  void ForgetByProvenance(const std::set<Digest>& provenances);

  // As Generation::EvictCache; bytes freed.
  uint64_t Evict(uint64_t target, const EvictPolicy& policy);
  // Makes room for one block. False: nothing can go.
  bool EvictOne();
  void Clear();

  uint64_t bytes() const { return nodes_.size() * kSimBlockBytes; }
  uint64_t EvictableBytes() const;
  std::vector<const SimBlock*> Blocks() const;
  bool CheckInvariants() const;

 private:
  struct Key {
    SimCacheNode parent{};
    uint64_t adapter = 0;
    std::array<Token, kSimBlockTokens> tokens{};
    std::array<uint64_t, kSimBlockTokens> media{};
    friend auto operator<=>(const Key&,
                            const Key&) = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Node {
    Key key;
    uint64_t end = 0;
    SimCachedBlock cached;
    std::vector<uint64_t> deps;  // media up to here, each once, in order
    SimProvenance provenance{0};
    uint64_t used_at = 0;
    uint32_t children = 0;
    uint32_t pins = 0;
    bool forgotten = false;
  };
  using Age = std::pair<uint64_t, SimCacheNode>;

  static Key KeyAt(const Prefix& prefix, SimCacheNode parent, uint64_t start);
  std::vector<SimCacheNode> ChildrenWith(SimCacheNode parent, uint64_t adapter,
                                         absl::Span<const Token> tokens) const;
  std::vector<SimCacheNode> Path(SimCacheNode node) const;
  SimCacheNode AddNode(const Key& key, const SimCachedBlock& cached);
  void Touch(SimCacheNode node);
  bool IsEvictable(const Node& node) const;
  void Remove(SimCacheNode node);
  void ForgetOne(SimCacheNode node);
  void RemoveIfUnheld(SimCacheNode node);

  std::map<SimCacheNode, Node> nodes_;  // a parent's number is less than its children's
  std::map<Key, SimCacheNode> index_;
  std::set<Age> leaves_;
  uint64_t last_node_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_CACHE_H_
