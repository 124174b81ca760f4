#include "engine/llama/llama_sequence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/llama/llama_cache.h"

namespace superfluid {
namespace {

absl::Status NoId() {
  return absl::ResourceExhaustedError("no room for the state of another sequence");
}

}  // namespace

LlamaSequence::LlamaSequence(KvSequences& kv, AdapterRef adapter)
    : SessionSequence(adapter), kv_(kv), cells_(kv.cells()) {}

absl::StatusOr<std::unique_ptr<SessionSequence>> LlamaSequence::Fork() const {
  auto child = std::make_unique<LlamaSequence>(kv_, adapter());
  if (computed() > 0) {
    child->state_ = KvSequence::Take(kv_);
    if (child->state_ == nullptr) return NoId();
    kv_.Copy(state_->id(), child->state_->id(), 0, -1);
    child->cells_ = cells_;
  }
  child->CopyHistory(*this);
  return child;
}

absl::Status LlamaSequence::Append(absl::Span<const Token> tokens, bool drawn) {
  AppendHistory(tokens, drawn);
  return absl::OkStatus();
}

absl::Status LlamaSequence::UseCached(absl::Span<const CachedBlockRef> blocks,
                                      absl::Span<const Token> tokens) {
  const absl::StatusOr<int32_t> id = Id();
  if (!id.ok()) return id.status();
  const LlamaCachedPrefix cached = CachedPrefix(blocks);
  kv_.Copy(cached.carrier, *id, 0, static_cast<int64_t>(cached.cells.size()));
  cells_.Add(cached.cells);
  AppendHistory(tokens.first(cached.cells.size()), /*drawn=*/false);
  return absl::OkStatus();
}

void LlamaSequence::CutBack(uint64_t length) {
  CutHistory(length);
  Uncompute(length);
}

absl::Status LlamaSequence::CutSpace(SpaceId /*space*/, uint64_t new_len) {
  if (absl::Status status = missing().CheckCut(new_len); !status.ok()) return status;
  if (media().Splits(new_len)) {
    return absl::InvalidArgumentError("the cut lies within an image that is computed at once");
  }
  missing().Cut(new_len);
  CutBack(new_len);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> LlamaSequence::Boundary(SpaceId /*space*/, uint64_t cap) const {
  uint64_t boundary = std::min(cap, length());
  while (media().Splits(boundary)) --boundary;
  if (IsMissing({0, boundary})) return PartIsMissing();
  return boundary;
}

absl::Status LlamaSequence::CheckRange(SpaceId space, TokenRange range) const {
  if (absl::Status status = SessionSequence::CheckRange(space, range); !status.ok()) return status;
  if (!media().Splits(range.start) && !media().Splits(range.end)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the range ", range.start, " to ", range.end,
                                                 " cuts an image that is computed at once"));
}

absl::Status LlamaSequence::CheckExport(SpaceId space, TokenRange range) const {
  if (absl::Status status = CheckRange(space, range); !status.ok()) return status;
  return IsMissing(range) ? PartIsMissing() : absl::OkStatus();
}

absl::StatusOr<int32_t> LlamaSequence::Id() {
  if (state_ == nullptr) state_ = KvSequence::Take(kv_);
  if (state_ == nullptr) return NoId();
  return state_->id();
}

void LlamaSequence::Uncompute(uint64_t end) {
  if (end < computed()) {
    kv_.Remove(state_->id(), end, -1);
    cells_.Resize(end);
  }
  if (computed() == 0) state_.reset();
}

void LlamaSequence::Resync() {
  if (state_ == nullptr) return;
  const uint64_t end = kv_.End(state_->id());
  if (end > computed()) AddComputed(end - computed());
  Uncompute(end);
}

void LlamaSequence::Demote(TokenRange range) {
  Touch();
  if (range.start == range.end) return;
  missing().Add(range);
  kv_.Remove(state_->id(), range.start, static_cast<int64_t>(range.end));
  cells_.Drop(range.start, range.end);
}

void LlamaSequence::Promote(TokenRange range, int32_t from, const KvRun& cells) {
  Touch();
  missing().Remove(range);
  kv_.Copy(from, state_->id(), range.start, static_cast<int64_t>(range.end));
  cells_.Fill(range.start, cells.cells());
}

void LlamaSequence::Replace(std::vector<Token> tokens, std::vector<bool> drawn, MediaMap media,
                            std::unique_ptr<KvSequence> state, KvRun cells) {
  ReplaceHistory(std::move(tokens), std::move(drawn), std::move(media));
  state_ = std::move(state);
  cells_ = std::move(cells);
}

bool LlamaSequence::CheckInvariants() const {
  if (!SessionSequence::CheckInvariants()) return false;
  if (state_ == nullptr) return computed() == 0;
  return SessionSequence::IsMissing() || kv_.End(state_->id()) == computed();
}

}  // namespace superfluid
