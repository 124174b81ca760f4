#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_CACHE_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_CACHE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/prefix_cache.h"
#include "engine/generation/token_model.h"
#include "engine/llama/llama_kv.h"

namespace superfluid {

// A library sequence that keeps the cells of cached blocks: of all from the first one of the prefix
// up to those that it was made for. Blocks are removed from the end of a prefix on, so it is cut as
// they go, and given back with the last of its own.
class LlamaCarrier {
 public:
  LlamaCarrier(KvSequences& kv, std::unique_ptr<KvSequence> sequence)
      : kv_(kv), sequence_(std::move(sequence)) {}
  int32_t id() const { return sequence_->id(); }
  void Cut(uint64_t end) const { kv_.Remove(sequence_->id(), end, -1); }

 private:
  KvSequences& kv_;
  const std::unique_ptr<KvSequence> sequence_;
};

// The state of kCacheBlockTokens tokens that begin at `start`, and of all before them in `carrier`.
class LlamaCachedBlock : public CachedBlock {
 public:
  LlamaCachedBlock(std::shared_ptr<LlamaCarrier> carrier, uint64_t start, KvRun cells)
      : carrier_(std::move(carrier)), start_(start), cells_(std::move(cells)) {}
  ~LlamaCachedBlock() override { carrier_->Cut(start_); }

  bool InUse() const override;
  int32_t carrier() const { return carrier_->id(); }
  absl::Span<const KvCell> cells() const { return cells_.cells(); }

 private:
  const std::shared_ptr<LlamaCarrier> carrier_;
  const uint64_t start_;
  const KvRun cells_;
};

// Cached state as a new sequence takes it over.
struct LlamaCachedPrefix {
  int32_t carrier = 0;
  std::vector<KvCell> cells;
};
LlamaCachedPrefix CachedPrefix(absl::Span<const CachedBlockRef> blocks);

// Blocks of the first `cells`, as many tokens as these are, of the library sequence `id`. Null for
// those of `known`, which is asked once room was made. ResourceExhausted: no sequence id is left.
absl::StatusOr<std::vector<CachedBlockRef>> MakeCachedBlocks(KvSequences& kv, int32_t id,
                                                             absl::Span<const KvCell> cells,
                                                             const TokenModel::KnownBlocks& known);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_CACHE_H_
