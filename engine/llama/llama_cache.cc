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

absl::StatusOr<std::vector<CachedBlockRef>> MakeCachedBlocks(KvSequences& kv, int32_t id,
                                                             absl::Span<const KvCell> cells,
                                                             const TokenModel::KnownBlocks& known) {
  std::unique_ptr<KvSequence> taken = KvSequence::Take(kv);
  if (taken == nullptr) {
    return absl::ResourceExhaustedError("no sequence is left for the prefix cache");
  }
  // Only now: making room may have evicted some of it.
  const std::vector<CachedBlockRef> before = known();
  const uint64_t start = before.size() * kCacheBlockTokens;
  if (start > 0) {
    kv.Copy(CachedPrefix(before).carrier, taken->id(), 0, static_cast<int64_t>(start));
  }
  kv.Copy(id, taken->id(), start, static_cast<int64_t>(cells.size()));
  const auto carrier = std::make_shared<LlamaCarrier>(kv, std::move(taken));
  std::vector<CachedBlockRef> blocks(cells.size() / kCacheBlockTokens);
  for (uint64_t at = start; at < cells.size(); at += kCacheBlockTokens) {
    KvRun run(kv.cells());
    run.Add(cells.subspan(at, kCacheBlockTokens));
    blocks[at / kCacheBlockTokens] =
        std::make_shared<LlamaCachedBlock>(carrier, at, std::move(run));
  }
  return blocks;
}

}  // namespace superfluid
