// The state of a sequence as it leaves the device and comes back.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sim/sim_sequence.h"

namespace superfluid {

SimInput SimSequence::InputAt(uint64_t position) const {
  return {tokens()[position], MediaAt(media().marks(), position), adapter().fingerprint};
}

// Whether every row of the range is missing.
bool SimSequence::Covered(TokenRange range) const {
  for (uint64_t at = range.start; at < range.end; ++at) {
    if (!IsMissing({at, at + 1})) return false;
  }
  return true;
}

absl::Status SimSequence::CheckExport(SpaceId space, TokenRange range) const {
  if (absl::Status status = CheckRange(space, range); !status.ok()) return status;
  if (space == kSimKvSpace) return IsMissing(range) ? PartIsMissing() : absl::OkStatus();
  if (range.start != 0) {
    return absl::InvalidArgumentError("a range of the space recurrent starts at 0");
  }
  if (range.end != recurrent_length_ && range.end % kSimBlockTokens != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a range of the space recurrent ends at a multiple of ", kSimBlockTokens,
                     " or at the end"));
  }
  return RecurrentAt(range.end).status();
}

// Before the rows change under the recurrent state.
void SimSequence::RememberOrigin() {
  if (origin_.has_value() || recurrent_length_ == 0 || recurrent_length_ > length()) return;
  origin_ = Origin{recurrent_length_, HistoryProvenance(recurrent_length_)};
}

absl::StatusOr<uint64_t> SimSequence::Boundary(SpaceId space, uint64_t cap) const {
  uint64_t boundary = std::min(cap, LengthOf(space));
  if (space == kSimRecurrentSpace && boundary < recurrent_length_) {
    boundary -= boundary % kSimBlockTokens;
  }
  if (absl::Status status = CheckExport(space, {0, boundary}); !status.ok()) return status;
  return boundary;
}

Digest SimSequence::Provenance(SpaceId space, TokenRange range) const {
  const bool imported = space == kSimRecurrentSpace && origin_.has_value();
  if (imported && (origin_->end == range.end || range.end > length())) return origin_->provenance;
  return HistoryProvenance(std::min(range.end, length()));
}

const SimRow& SimSequence::Row(uint64_t position) const {
  return blocks_[position / kSimBlockTokens]->rows[position % kSimBlockTokens];
}

absl::StatusOr<SimRecurrent> SimSequence::RecurrentAt(uint64_t position) const {
  if (position == recurrent_length_ && !recurrent_missing_) return point_.recurrent;
  if (position == 0) return SimStartPoint().recurrent;
  if (position == recurrent_length_) return PartIsMissing();
  const auto found = checkpoints_.find(position);
  if (found != checkpoints_.end()) return found->second;
  if (position > length()) return absl::FailedPreconditionError("no such state is kept");
  SimRecurrent state = SimStartPoint().recurrent;
  for (uint64_t i = 0; i < position; ++i) AdvanceSimRecurrent(state, InputAt(i));
  return state;
}

absl::StatusOr<std::vector<SimCachedBlock>> SimSequence::WholeBlocks(uint64_t count) const {
  if (IsMissing({0, count * kSimBlockTokens})) return PartIsMissing();
  std::vector<SimCachedBlock> blocks;
  SimRecurrent state = SimStartPoint().recurrent;
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t at = 0; at < kSimBlockTokens; ++at) {
      AdvanceSimRecurrent(state, InputAt(i * kSimBlockTokens + at));
    }
    blocks.push_back({blocks_[i], state});
  }
  return blocks;
}

void SimSequence::Demote(SpaceId space, TokenRange range) {
  Touch(space);
  if (space == kSimRecurrentSpace) {
    // Remembered, since the rows that it belongs to may be replaced meanwhile.
    origin_ = Origin{range.end, Provenance(space, range)};
    recurrent_missing_ = true;
    point_.recurrent = {};
    return;
  }
  if (range.start == range.end) return;
  missing().Add(range);
  rows_changed_ = true;
  for (uint64_t i = range.start / kSimBlockTokens; i * kSimBlockTokens < range.end; ++i) {
    const TokenRange block{i * kSimBlockTokens, std::min((i + 1) * kSimBlockTokens, length())};
    if (Covered(block)) {
      blocks_[i] = nullptr;
    } else if (blocks_[i].use_count() == 1) {
      for (uint64_t at = std::max(block.start, range.start); at < std::min(block.end, range.end);
           ++at) {
        blocks_[i]->rows[at % kSimBlockTokens] = {};
      }
    }
  }
}

bool SimSequence::AnyDemoted(SpaceId space) const {
  return space == kSimKvSpace ? SessionSequence::AnyDemoted(space) : recurrent_missing_;
}

bool SimSequence::IsDemoted(SpaceId space, TokenRange range) const {
  return space == kSimKvSpace ? SessionSequence::IsDemoted(space, range)
                              : range == TokenRange{0, recurrent_length_};
}

absl::Status SimSequence::Promote(TokenRange range, absl::Span<const SimDecodedRow> rows,
                                  SimTentativeBlocks& tentative) {
  for (uint64_t i = 0; i < rows.size(); ++i) {
    const uint64_t at = range.start + i;
    if (rows[i].row.token != tokens()[at] || rows[i].row.media != MediaAt(media().marks(), at) ||
        rows[i].drawn != drawn(at)) {
      return absl::InvalidArgumentError("the rows are those of other tokens");
    }
  }
  std::vector<SimBlockRef> blocks = tentative.Take();
  const uint64_t first = range.start / kSimBlockTokens;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks_[first + i] != nullptr) *blocks[i] = *blocks_[first + i];
    blocks_[first + i] = std::move(blocks[i]);
  }
  for (uint64_t i = 0; i < rows.size(); ++i) {
    const uint64_t at = range.start + i;
    blocks_[at / kSimBlockTokens]->rows[at % kSimBlockTokens] = rows[i].row;
  }
  missing().Remove(range);
  rows_changed_ = true;
  Touch(kSimKvSpace);
  return absl::OkStatus();
}

void SimSequence::Replace(absl::Span<const SimDecodedRow> rows, std::vector<SimBlockRef> blocks) {
  RememberOrigin();
  checkpoints_.clear();
  blocks_ = std::move(blocks);
  std::vector<Token> tokens;
  std::vector<bool> drawn;
  MediaMap media;
  for (uint64_t i = 0; i < rows.size(); ++i) {
    const SimDecodedRow& decoded = rows[i];
    tokens.push_back(decoded.row.token);
    drawn.push_back(decoded.drawn);
    if (decoded.row.media != 0) media.emplace(i, decoded.row.media);
    blocks_[i / kSimBlockTokens]->rows[i % kSimBlockTokens] = decoded.row;
  }
  ReplaceHistory(std::move(tokens), std::move(drawn), std::move(media));
  rows_changed_ = true;
  Touch(kSimKvSpace);
}

void SimSequence::SetRecurrent(uint64_t end, const SimRecurrent& state, const Digest& provenance) {
  // The checkpoints of what was here before are not of this state, unless it only comes back.
  if (!recurrent_missing_ || end != recurrent_length_) checkpoints_.clear();
  point_.recurrent = state;
  recurrent_length_ = end;
  recurrent_missing_ = false;
  origin_ = Origin{end, provenance};
  Touch(kSimRecurrentSpace);
}

}  // namespace superfluid
