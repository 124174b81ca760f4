#include "engine/sim/sim_sequence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

uint64_t BlocksFor(uint64_t tokens) { return (tokens + kSimBlockTokens - 1) / kSimBlockTokens; }

}  // namespace

SimSequence::SimSequence(SimBlockPool& pool, AdapterRef adapter)
    : SessionSequence(adapter), pool_(&pool) {}

uint64_t SimSequence::LengthOf(SpaceId space) const {
  return space == kSimKvSpace ? length() : recurrent_length_;
}

absl::Status SimSequence::Ready() {
  if (absl::Status status = SessionSequence::Ready(); !status.ok()) return status;
  if (length() != recurrent_length_) {
    return absl::FailedPreconditionError(absl::StrCat("the sequence's spaces disagree: kv has ",
                                                      length(), " tokens, recurrent has ",
                                                      recurrent_length_));
  }
  if (origin_.has_value() && HistoryProvenance(origin_->end) != origin_->provenance) {
    return absl::FailedPreconditionError("the sequence's spaces are the state of different tokens");
  }
  origin_.reset();
  if (rows_changed_) RefoldRows();
  point_.position = length();
  return absl::OkStatus();
}

void SimSequence::RefoldRows() {
  point_.rows = SimStartPoint().rows;
  for (uint64_t i = 0; i < length(); ++i) point_.rows = FoldSimRow(point_.rows, Row(i));
  rows_changed_ = false;
}

// Makes room for one more row in a last block that nobody else has.
absl::Status SimSequence::OwnTail() {
  const bool full = length() % kSimBlockTokens == 0;
  if (!full && blocks_.back().use_count() == 1) return absl::OkStatus();
  SimBlockRef block = pool_->Take();
  if (block == nullptr) return absl::ResourceExhaustedError("no block is left for the sequence");
  if (full) {
    blocks_.push_back(std::move(block));
  } else {
    *block = *blocks_.back();
    blocks_.back() = std::move(block);
  }
  return absl::OkStatus();
}

absl::Status SimSequence::Append(absl::Span<const Token> tokens, bool drawn) {
  for (const Token token : tokens) {
    if (absl::Status status = AppendOne(token, drawn); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SimSequence::Append(Token token, uint64_t media, bool drawn) {
  if (media != 0) this->media().Mark(length(), media);
  return AppendOne(token, drawn);
}

absl::Status SimSequence::AppendOne(Token token, bool drawn) {
  if (absl::Status status = OwnTail(); !status.ok()) return status;
  const uint64_t position = length();
  const SimRow row =
      AdvanceSimPoint(point_, {token, MediaAt(media().marks(), position), adapter().fingerprint});
  blocks_.back()->rows[position % kSimBlockTokens] = row;
  AppendHistory(absl::MakeConstSpan(&token, 1), drawn);
  recurrent_length_ = length();
  if (length() % kSimBlockTokens == 0) checkpoints_[length()] = point_.recurrent;
  Touch(kSimKvSpace);
  Touch(kSimRecurrentSpace);
  return absl::OkStatus();
}

absl::Status SimSequence::UseCached(absl::Span<const CachedBlockRef> blocks,
                                    absl::Span<const Token> tokens) {
  const uint64_t count = blocks.size() * kSimBlockTokens;
  for (const CachedBlockRef& entry : blocks) {
    const SimCachedBlock& cached = static_cast<const SimCacheEntry&>(*entry).cached;
    blocks_.push_back(cached.block);
    checkpoints_[blocks_.size() * kSimBlockTokens] = cached.after;
    point_.recurrent = cached.after;
  }
  AppendHistory(tokens.first(count), /*drawn=*/false);
  recurrent_length_ = count;
  point_.position = count;
  RefoldRows();
  Touch(kSimKvSpace);
  Touch(kSimRecurrentSpace);
  return absl::OkStatus();
}

void SimSequence::CutRows(uint64_t new_len) {
  CutHistory(new_len);
  blocks_.resize(BlocksFor(new_len));
  Touch(kSimKvSpace);
}

void SimSequence::Mark() {
  SessionSequence::Mark();
  marked_ = point_;
}

void SimSequence::RollBack() {
  CutRows(mark());
  point_ = marked_;
  recurrent_length_ = mark();
  checkpoints_.erase(checkpoints_.upper_bound(recurrent_length_), checkpoints_.end());
  Touch(kSimRecurrentSpace);
}

absl::Status SimSequence::CutSpace(SpaceId space, uint64_t new_len) {
  return space == kSimKvSpace ? CutKv(new_len) : CutRecurrent(new_len);
}

absl::Status SimSequence::CutKv(uint64_t new_len) {
  if (absl::Status status = missing().CheckCut(new_len); !status.ok()) return status;
  RememberOrigin();
  missing().Cut(new_len);
  CutRows(new_len);
  rows_changed_ = true;
  const uint64_t tail = new_len - new_len % kSimBlockTokens;
  if (tail < new_len && Covered({tail, new_len})) blocks_.back() = nullptr;
  return absl::OkStatus();
}

absl::Status SimSequence::CutRecurrent(uint64_t new_len) {
  if (new_len % kSimBlockTokens != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the space recurrent can be cut at multiples of ", kSimBlockTokens));
  }
  absl::StatusOr<SimRecurrent> state = RecurrentAt(new_len);
  if (!state.ok()) return state.status();
  point_.recurrent = *state;
  recurrent_length_ = new_len;
  recurrent_missing_ = false;
  origin_.reset();
  checkpoints_.erase(checkpoints_.upper_bound(new_len), checkpoints_.end());
  Touch(kSimRecurrentSpace);
  return absl::OkStatus();
}

bool SimSequence::CheckInvariants() const {
  if (!SessionSequence::CheckInvariants() || blocks_.size() != BlocksFor(length())) return false;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const TokenRange block{i * kSimBlockTokens, std::min((i + 1) * kSimBlockTokens, length())};
    if ((blocks_[i] == nullptr) != Covered(block)) return false;
    for (uint64_t at = block.start; at < block.end; ++at) {
      if (IsMissing({at, at + 1})) continue;
      if (Row(at).token != tokens()[at] || Row(at).media != MediaAt(media().marks(), at))
        return false;
    }
  }
  return checkpoints_.empty() || checkpoints_.rbegin()->first <= recurrent_length_;
}

}  // namespace superfluid
