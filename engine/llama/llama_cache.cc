#include "engine/llama/llama_cache.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"

namespace superfluid {

bool LlamaCachedBlock::InUse() const { return cells_.IsShared(); }

LlamaCachedPrefix CachedPrefix(absl::Span<const CachedBlockRef> blocks) {
  LlamaCachedPrefix prefix;
  prefix.cells.reserve(blocks.size() * kCacheBlockTokens);
  for (const CachedBlockRef& block : blocks) {
    const auto& cached = static_cast<const LlamaCachedBlock&>(*block);
    prefix.carrier = cached.carrier();
    prefix.cells.insert(prefix.cells.end(), cached.cells().begin(), cached.cells().end());
  }
  return prefix;
}

absl::StatusOr<CacheNode> PublishBlocks(PrefixCache& cache, KvSequences& kv,
                                        const LlamaSequence& sequence, int32_t id,
                                        uint64_t tokens) {
  const PrefixCache::Prefix prefix{sequence.tokens().first(tokens), &sequence.media().marks(),
                                   sequence.adapter().fingerprint};
  if (cache.EndOf(cache.Find(prefix)) == tokens)
    return cache.Insert(prefix, std::vector<CachedBlockRef>(tokens / kCacheBlockTokens));
  std::unique_ptr<KvSequence> taken = KvSequence::Take(kv);
  if (taken == nullptr) {
    return absl::ResourceExhaustedError("no sequence is left for the prefix cache");
  }
  // Only now: making room may have evicted some of it.
  const CacheNode known = cache.Find(prefix);
  const uint64_t start = cache.EndOf(known);
  if (start > 0) {
    kv.Copy(CachedPrefix(cache.Use(known)).carrier, taken->id(), 0, static_cast<int64_t>(start));
  }
  kv.Copy(id, taken->id(), start, static_cast<int64_t>(tokens));
  const auto carrier = std::make_shared<LlamaCarrier>(kv, std::move(taken));
  std::vector<CachedBlockRef> blocks(tokens / kCacheBlockTokens);
  for (uint64_t at = start; at < tokens; at += kCacheBlockTokens) {
    KvRun cells(kv.cells());
    cells.Add(sequence.cells().cells().subspan(at, kCacheBlockTokens));
    blocks[at / kCacheBlockTokens] =
        std::make_shared<LlamaCachedBlock>(carrier, at, std::move(cells));
  }
  return cache.Insert(prefix, blocks);
}

}  // namespace superfluid
