#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCE_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/cache/token_provenance.h"
#include "engine/generation/session_sequence.h"
#include "engine/handles.h"
#include "engine/llama/llama_kv.h"

namespace superfluid {

// A token sequence with its state in the library's KV cache. State is computed lazily: of a token
// just drawn only when the next one is drawn, so that a decode computes each token once, however it
// is split into ticks.
//
// Threads: one. Lifetime: the KV sequences must outlive it.
class LlamaSequence final : public SessionSequence {
 public:
  LlamaSequence(KvSequences& kv, AdapterRef adapter);
  LlamaSequence(const LlamaSequence&) = delete;
  LlamaSequence& operator=(const LlamaSequence&) = delete;

  uint64_t computed() const override { return cells_.size(); }
  absl::Status Reserve() override { return Id().status(); }
  absl::StatusOr<std::unique_ptr<SessionSequence>> Fork() const override;
  absl::Status Append(absl::Span<const Token> tokens, bool drawn) override;
  absl::Status UseCached(absl::Span<const CachedBlockRef> blocks,
                         absl::Span<const Token> tokens) override;
  void RollBack() override { CutBack(mark()); }
  void Uncompute(uint64_t end) override;

  absl::StatusOr<uint64_t> Boundary(SpaceId space, uint64_t cap) const override;
  // InvalidArgument: also if it cuts an image that is computed at once.
  absl::Status CheckRange(SpaceId space, TokenRange range) const override;
  absl::Status CheckExport(SpaceId space, TokenRange range) const override;

  // ---- State in the library

  // The library's id, taken with the first use. ResourceExhausted: none is left.
  absl::StatusOr<int32_t> Id();
  // The library has computed `count` more tokens, which may go beyond length() (drafts).
  void AddComputed(uint64_t count) { cells_.AddNew(count); }
  // What the library has, after a pass that did not end well; counts what it kept.
  void Resync();
  const KvRun& cells() const { return cells_; }

  // The range is computed, and nothing of it missing.
  void Demote(TokenRange range);
  // Fills in a demoted range from the library sequence `from`, whose cells these are.
  void Promote(TokenRange range, int32_t from, const KvRun& cells);
  // All of it is what `state` has.
  void Replace(std::vector<Token> tokens, std::vector<bool> drawn, MediaMap media,
               std::unique_ptr<KvSequence> state, KvRun cells);

  bool CheckInvariants() const override;

 protected:
  // InvalidArgument: the cut lies within tokens that are computed at once.
  absl::Status CutSpace(SpaceId space, uint64_t new_len) override;

 private:
  void CutBack(uint64_t length);

  KvSequences& kv_;
  std::unique_ptr<KvSequence> state_;  // null: nothing is computed
  KvRun cells_;                        // of the computed tokens; of a missing one kNoCell
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_SEQUENCE_H_
