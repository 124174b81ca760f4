#include "engine/llama/llama_sequence.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"

namespace superfluid {

LlamaSequence::LlamaSequence(KvSequences& kv, LlamaAdapterRef adapter)
    : kv_(kv), adapter_(adapter), cells_(kv.cells()) {}

std::unique_ptr<LlamaSequence> LlamaSequence::Fork() const {
  auto child = std::make_unique<LlamaSequence>(kv_, adapter_);
  if (computed() > 0) {
    child->state_ = KvSequence::Take(kv_);
    if (child->state_ == nullptr) return nullptr;
    kv_.Copy(state_->id(), child->state_->id(), 0, -1);
    child->cells_ = cells_;
  }
  child->tokens_ = tokens_;
  child->drawn_ = drawn_;
  child->media_ = media_;
  child->cursor_ = cursor_;
  return child;
}

uint64_t LlamaSequence::OutputStart() const {
  uint64_t start = length();
  while (start > 0 && drawn_[start - 1]) --start;
  return start;
}

void LlamaSequence::Append(absl::Span<const Token> tokens, bool drawn) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  drawn_.insert(drawn_.end(), tokens.size(), drawn);
  Touch();
}

void LlamaSequence::RollBack(uint64_t length) {
  tokens_.resize(length);
  drawn_.resize(length);
  media_.Cut(length);
  Uncompute(length);
  cursor_.reset();
  Touch();
}

absl::Status LlamaSequence::Trim(uint64_t new_len) {
  for (const TokenRange& range : missing_) {
    if (range.start < new_len && new_len < range.end) {
      return absl::FailedPreconditionError("the cut lies within a demoted range");
    }
  }
  if (media_.Splits(new_len)) {
    return absl::InvalidArgumentError("the cut lies within an image that is computed at once");
  }
  std::erase_if(missing_, [new_len](const TokenRange& range) { return range.start >= new_len; });
  RollBack(new_len);
  return absl::OkStatus();
}

absl::StatusOr<int32_t> LlamaSequence::Id() {
  if (state_ == nullptr) state_ = KvSequence::Take(kv_);
  if (state_ == nullptr) {
    return absl::ResourceExhaustedError("no room for the state of another sequence");
  }
  return state_->id();
}

LlamaPiece LlamaSequence::NextPiece(uint64_t end, uint64_t max) const {
  const uint64_t start = computed();
  const SequenceMedia::Run run = media_.At(start);
  LlamaPiece piece;
  piece.non_causal = run.part != nullptr && run.part->non_causal;
  const uint64_t most = max > end - start ? end : start + max;
  const uint64_t stop = piece.non_causal ? run.end : std::min(run.end, most);
  absl::Span<const Token> tokens = this->tokens().subspan(start, stop - start);
  if (run.part != nullptr) {
    piece.rows = run.part->Row(run.index);
    if (piece.rows == nullptr) {
      tokens = absl::MakeConstSpan(run.part->text).subspan(run.index, stop - start);
    }
  }
  piece.tokens.assign(tokens.begin(), tokens.end());
  return piece;
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

absl::Status LlamaSequence::UseCached(int32_t from, absl::Span<const KvCell> cells,
                                      absl::Span<const Token> tokens) {
  const absl::StatusOr<int32_t> id = Id();
  if (!id.ok()) return id.status();
  kv_.Copy(from, *id, 0, static_cast<int64_t>(cells.size()));
  cells_.Add(cells);
  Append(tokens.first(cells.size()), /*drawn=*/false);
  return absl::OkStatus();
}

bool LlamaSequence::IsMissing(TokenRange range) const {
  return std::any_of(missing_.begin(), missing_.end(), [range](const TokenRange& missing) {
    return missing.start < range.end && range.start < missing.end;
  });
}

bool LlamaSequence::HasMissing(TokenRange range) const {
  return std::find(missing_.begin(), missing_.end(), range) != missing_.end();
}

void LlamaSequence::Demote(TokenRange range) {
  Touch();
  if (range.start == range.end) return;
  missing_.push_back(range);
  kv_.Remove(state_->id(), range.start, static_cast<int64_t>(range.end));
  cells_.Drop(range.start, range.end);
}

void LlamaSequence::Promote(TokenRange range, int32_t from, const KvRun& cells) {
  Touch();
  std::erase(missing_, range);
  kv_.Copy(from, state_->id(), range.start, static_cast<int64_t>(range.end));
  cells_.Fill(range.start, cells.cells());
}

bool LlamaSequence::CheckInvariants() const {
  if (drawn_.size() != length() || computed() > length()) return false;
  if (state_ == nullptr) return computed() == 0;
  return IsMissing() || kv_.End(state_->id()) == computed();
}

void LlamaSequence::Replace(std::vector<Token> tokens, std::vector<bool> drawn, MediaMap media,
                            std::unique_ptr<KvSequence> state, KvRun cells) {
  missing_.clear();
  cursor_.reset();
  tokens_ = std::move(tokens);
  drawn_ = std::move(drawn);
  media_.Replace(std::move(media));
  state_ = std::move(state);
  cells_ = std::move(cells);
  Touch();
}

}  // namespace superfluid
