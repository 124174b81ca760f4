#include "engine/generation/session_sequence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/cache/token_provenance.h"

namespace superfluid {

absl::Status PartIsMissing() {
  return absl::FailedPreconditionError("part of the range is not on the device");
}

absl::Status NoMediaToCompute() {
  return absl::FailedPreconditionError(
      "an image that the sequence ends with is not here: encode it, and try again");
}

uint64_t SessionSequence::OutputStart() const {
  uint64_t start = length();
  while (start > 0 && drawn_[start - 1]) --start;
  return start;
}

Digest SessionSequence::HistoryProvenance(uint64_t end) const {
  TokenProvenance provenance(adapter_.fingerprint);
  for (uint64_t i = 0; i < end; ++i) provenance.Add(tokens_[i], MediaAt(media_.marks(), i));
  return provenance.digest();
}

SequencePiece SessionSequence::NextPiece(uint64_t end, uint64_t max) const {
  const uint64_t start = computed();
  const SequenceMedia::Run run = media_.At(start);
  SequencePiece piece;
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

absl::Status SessionSequence::Ready() {
  if (!IsMissing()) return absl::OkStatus();
  return absl::FailedPreconditionError("part of the sequence's state is not on the device");
}

absl::Status SessionSequence::Trim(SpaceId space, uint64_t new_len) {
  const uint64_t length = LengthOf(space);
  if (new_len == length) return absl::OkStatus();
  if (new_len < length) return CutSpace(space, new_len);
  return absl::InvalidArgumentError(
      absl::StrCat("a sequence of ", length, " tokens cannot be cut to ", new_len));
}

absl::Status SessionSequence::CheckRange(SpaceId space, TokenRange range) const {
  if (range.start <= range.end && range.end <= LengthOf(space)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the range ", range.start, " to ", range.end,
                                                 " is not within the ", LengthOf(space),
                                                 " tokens of the sequence"));
}

Digest SessionSequence::Provenance(SpaceId /*space*/, TokenRange range) const {
  return HistoryProvenance(range.end);
}

absl::Status SessionSequence::CheckPromote(SpaceId space, TokenRange range,
                                           const Digest& provenance) const {
  if (!AnyDemoted(space)) {
    return absl::FailedPreconditionError("nothing of the sequence's state is demoted");
  }
  if (!IsDemoted(space, range)) {
    return absl::InvalidArgumentError(
        absl::StrCat("what was demoted is not the range ", range.start, " to ", range.end));
  }
  if (Provenance(space, range) != provenance) {
    return absl::FailedPreconditionError("this is not the state of what was demoted");
  }
  return absl::OkStatus();
}

void SessionSequence::CopyHistory(const SessionSequence& parent) {
  tokens_ = parent.tokens_;
  drawn_ = parent.drawn_;
  media_ = parent.media_;
  cursor_ = parent.cursor_;
}

void SessionSequence::AppendHistory(absl::Span<const Token> tokens, bool drawn) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  drawn_.insert(drawn_.end(), tokens.size(), drawn);
  Touch();
}

void SessionSequence::CutHistory(uint64_t length) {
  tokens_.resize(length);
  drawn_.resize(length);
  media_.Cut(length);
  cursor_.reset();
  Touch();
}

void SessionSequence::ReplaceHistory(std::vector<Token> tokens, std::vector<bool> drawn,
                                     MediaMap media) {
  missing_.Clear();
  cursor_.reset();
  tokens_ = std::move(tokens);
  drawn_ = std::move(drawn);
  media_.Replace(std::move(media));
  Touch();
}

}  // namespace superfluid
