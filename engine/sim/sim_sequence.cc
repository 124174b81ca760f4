#include "engine/sim/sim_sequence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

uint64_t BlocksFor(uint64_t tokens) { return (tokens + kSimBlockTokens - 1) / kSimBlockTokens; }

absl::Status TooLong(uint64_t new_len, uint64_t length) {
  return absl::InvalidArgumentError(
      absl::StrCat("a sequence of ", length, " tokens cannot be cut to ", new_len));
}

}  // namespace

SimSequence::SimSequence(SimBlockPool& pool, SimAdapterRef adapter)
    : pool_(&pool), adapter_(adapter) {}

uint64_t SimSequence::LengthOf(SpaceId space) const {
  return space == kSimKvSpace ? length() : recurrent_length_;
}

uint64_t SimSequence::OutputStart() const {
  uint64_t start = length();
  while (start > 0 && drawn_[start - 1]) --start;
  return start;
}

absl::Status SimSequence::Ready() {
  if (IsMissing()) {
    return absl::FailedPreconditionError("part of the sequence's state is not on the device");
  }
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

absl::Status SimSequence::Append(Token token, uint64_t media, bool drawn) {
  if (absl::Status status = OwnTail(); !status.ok()) return status;
  const uint64_t position = length();
  const SimRow row = AdvanceSimPoint(point_, {token, media, adapter_.fingerprint});
  blocks_.back()->rows[position % kSimBlockTokens] = row;
  tokens_.push_back(token);
  drawn_.push_back(drawn);
  if (media != 0) media_.emplace(position, media);
  recurrent_length_ = length();
  if (length() % kSimBlockTokens == 0) checkpoints_[length()] = point_.recurrent;
  Touch(kSimKvSpace);
  Touch(kSimRecurrentSpace);
  return absl::OkStatus();
}

void SimSequence::UseCached(absl::Span<const SimCachedBlock> blocks, absl::Span<const Token> tokens,
                            const MediaMap& media) {
  const uint64_t count = blocks.size() * kSimBlockTokens;
  for (const SimCachedBlock& cached : blocks) {
    blocks_.push_back(cached.block);
    checkpoints_[blocks_.size() * kSimBlockTokens] = cached.after;
  }
  tokens_.assign(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(count));
  drawn_.assign(count, false);
  media_.clear();
  media_.insert(media.begin(), media.lower_bound(count));
  recurrent_length_ = count;
  if (!blocks.empty()) point_.recurrent = blocks.back().after;
  point_.position = count;
  RefoldRows();
  Touch(kSimKvSpace);
  Touch(kSimRecurrentSpace);
}

void SimSequence::CutRows(uint64_t new_len) {
  tokens_.resize(new_len);
  drawn_.resize(new_len);
  media_.erase(media_.lower_bound(new_len), media_.end());
  blocks_.resize(BlocksFor(new_len));
  Touch(kSimKvSpace);
}

void SimSequence::RollBack(const Mark& mark) {
  CutRows(mark.point.position);
  point_ = mark.point;
  recurrent_length_ = mark.point.position;
  checkpoints_.erase(checkpoints_.upper_bound(recurrent_length_), checkpoints_.end());
  Touch(kSimRecurrentSpace);
}

absl::Status SimSequence::Trim(SpaceId space, uint64_t new_len) {
  if (new_len > LengthOf(space)) return TooLong(new_len, LengthOf(space));
  if (new_len == LengthOf(space)) return absl::OkStatus();
  return space == kSimKvSpace ? TrimRows(new_len) : TrimRecurrent(new_len);
}

absl::Status SimSequence::TrimRows(uint64_t new_len) {
  for (const TokenRange& range : missing_) {
    if (range.start < new_len && new_len < range.end) {
      return absl::FailedPreconditionError("the cut lies within a demoted range");
    }
  }
  RememberOrigin();
  std::erase_if(missing_, [new_len](const TokenRange& range) { return range.start >= new_len; });
  CutRows(new_len);
  rows_changed_ = true;
  const uint64_t tail = new_len - new_len % kSimBlockTokens;
  if (tail < new_len && Covered({tail, new_len})) blocks_.back() = nullptr;
  return absl::OkStatus();
}

absl::Status SimSequence::TrimRecurrent(uint64_t new_len) {
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
  if (drawn_.size() != length() || blocks_.size() != BlocksFor(length())) return false;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const TokenRange block{i * kSimBlockTokens, std::min((i + 1) * kSimBlockTokens, length())};
    if ((blocks_[i] == nullptr) != Covered(block)) return false;
    for (uint64_t at = block.start; at < block.end; ++at) {
      if (RowsMissing({at, at + 1})) continue;
      if (Row(at).token != tokens_[at] || Row(at).media != MediaAt(media_, at)) return false;
    }
  }
  return checkpoints_.empty() || checkpoints_.rbegin()->first <= recurrent_length_;
}

}  // namespace superfluid
