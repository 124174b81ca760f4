#ifndef SUPERFLUID_ENGINE_CACHE_PREFIX_CACHE_H_
#define SUPERFLUID_ENGINE_CACHE_PREFIX_CACHE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/generation.h"

namespace superfluid {

inline constexpr uint64_t kCacheBlockTokens = 16;

// The state of kCacheBlockTokens tokens, whatever an engine keeps of them. It is freed with its
// last owner.
class CachedBlock {
 public:
  CachedBlock() = default;
  CachedBlock(const CachedBlock&) = delete;
  CachedBlock& operator=(const CachedBlock&) = delete;
  virtual ~CachedBlock() = default;
  // Whether a sequence uses the same memory, so that letting go of the block would free nothing.
  virtual bool InUse() const = 0;
};
using CachedBlockRef = std::shared_ptr<const CachedBlock>;

// A cached block at the end of a cached prefix; 0: the empty prefix.
enum class CacheNode : uint64_t {};

// The prefix cache: a tree of blocks of kCacheBlockTokens tokens. A node is found by all tokens up
// to its end, the media that they stand for and the adapter they were computed under. Its cache
// class is 0 if it ends within the first 256 tokens, 1 within the first 2048, else 2.
//
// A node goes when it is the least recently used one, no other extends it, no lease pins it and no
// sequence uses its block. Forgotten nodes are found no more but stay while they are pinned.
//
// Threads: one.
class PrefixCache {
 public:
  // `block_bytes`: what a block that goes gives back.
  explicit PrefixCache(uint64_t block_bytes) : block_bytes_(block_bytes) {}
  void set_block_bytes(uint64_t block_bytes) { block_bytes_ = block_bytes; }

  // What is looked up. `media`: by position, exact.
  struct Prefix {
    absl::Span<const Token> tokens;
    const MediaMap* media = nullptr;
    uint64_t adapter = 0;
  };

  // The longest cached prefix, of whole blocks.
  CacheNode Find(const Prefix& prefix) const;
  // The same for a peer that knows which media the tokens stand for, but not where: the longest
  // prefix that stands for exactly these.
  CacheNode FindByDeps(absl::Span<const Token> tokens, absl::Span<const uint64_t> deps,
                       uint64_t adapter) const;
  // Every node for exactly these tokens, whatever the media and adapter.
  std::vector<CacheNode> FindAll(absl::Span<const Token> tokens) const;
  // Whether what is cached at `node` is a prefix of this; also of a forgotten node.
  bool IsPrefix(CacheNode node, const Prefix& prefix) const;

  // The blocks from the first to this one. They count as used now.
  std::vector<CachedBlockRef> Use(CacheNode node);
  uint64_t EndOf(CacheNode node) const;

  // Adds what is not there yet, as many blocks as `blocks` has; those for which a node exists
  // already (see Find) may be null. Returns the last node.
  CacheNode Insert(const Prefix& prefix, absl::Span<const CachedBlockRef> blocks);

  void Pin(CacheNode node);
  void Unpin(CacheNode node);
  // With all that extend it.
  void Forget(CacheNode node);
  void ForgetByProvenance(const std::set<Digest>& provenances);

  // As Generation::EvictCache; bytes freed.
  uint64_t Evict(uint64_t target, const EvictPolicy& policy);
  // Makes room for one block. False: nothing can go.
  bool EvictOne();
  // The same with a block that is in use, which frees no memory but what else the block holds.
  bool EvictOneInUse();
  void Clear();

  uint64_t bytes() const { return nodes_.size() * block_bytes_; }
  uint64_t EvictableBytes() const;
  std::vector<const CachedBlock*> Blocks() const;
  bool CheckInvariants() const;

 private:
  struct Key {
    CacheNode parent{};
    uint64_t adapter = 0;
    std::array<Token, kCacheBlockTokens> tokens{};
    std::array<uint64_t, kCacheBlockTokens> media{};
    friend auto operator<=>(const Key&,
                            const Key&) = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Node {
    Key key;
    uint64_t end = 0;
    CachedBlockRef cached;
    std::vector<uint64_t> deps;  // media up to here, each once, in order
    TokenProvenance provenance{0};
    uint64_t used_at = 0;
    uint32_t children = 0;
    uint32_t pins = 0;
    bool forgotten = false;
  };
  using Age = std::pair<uint64_t, CacheNode>;

  static Key KeyAt(const Prefix& prefix, CacheNode parent, uint64_t start);
  std::vector<CacheNode> ChildrenWith(CacheNode parent, uint64_t adapter,
                                      absl::Span<const Token> tokens) const;
  std::vector<CacheNode> Path(CacheNode node) const;
  CacheNode AddNode(const Key& key, CachedBlockRef cached);
  void Touch(CacheNode node);
  bool IsEvictable(const Node& node) const;
  bool EvictOldest(bool in_use_too);
  void Remove(CacheNode node);
  void ForgetOne(CacheNode node);
  void RemoveIfUnheld(CacheNode node);

  uint64_t block_bytes_;
  std::map<CacheNode, Node> nodes_;  // a parent's number is less than its children's
  std::map<Key, CacheNode> index_;
  std::set<Age> leaves_;
  uint64_t last_node_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CACHE_PREFIX_CACHE_H_
