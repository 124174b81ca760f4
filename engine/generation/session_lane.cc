#include "engine/generation/session_lane.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/cache/token_provenance.h"
#include "engine/sampling/tick_check.h"

namespace superfluid {

void SessionLane::Prepare() {
  absl::Status status = CheckWork();
  if (status.ok()) status = work_.sequence == SequenceHandle{} ? MakeSequence() : FindSequence();
  if (!status.ok()) return Fail(std::move(status));
  state_ = State::kPrepared;
}

void SessionLane::AppendInput() {
  if (state_ != State::kPrepared) return;
  absl::Status status = Append();
  if (status.ok()) status = BeginDrawing();
  if (!status.ok()) Fail(std::move(status));
}

absl::Status SessionLane::CheckWork() {
  if (absl::Status status = CheckLane(work_); !status.ok()) return status;
  for (const absl::Span<const Token> tokens : {work_.input, work_.stop_tokens, work_.drafts}) {
    if (absl::Status status = session_.CheckTokens(tokens); !status.ok()) return status;
  }
  const auto grammar = session_.grammars.Find(work_.grammar);
  if (!grammar.ok()) return grammar.status();
  const auto bias = session_.biases.Find(work_.logit_bias);
  if (!bias.ok()) return bias.status();
  const auto drafter = session_.strategies.Find(work_.strategy);
  if (!drafter.ok()) return drafter.status();
  grammar_ = *grammar;
  bias_ = *bias;
  if (work_.kind == LaneKind::kDecode) drafter_ = *drafter;
  if (work_.kind == LaneKind::kVerify) drafts_.assign(work_.drafts.begin(), work_.drafts.end());
  return absl::OkStatus();
}

absl::Status SessionLane::CheckLength(uint64_t length) const {
  const uint64_t context = session_.facts.context();
  if (work_.input.size() > context - std::min(context, length)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input does not fit the context of ", context, " tokens"));
  }
  if (work_.max_tokens > 0 && length + work_.input.size() == 0) {
    return absl::InvalidArgumentError("nothing precedes the draw");
  }
  return absl::OkStatus();
}

absl::Status SessionLane::FindSequence() {
  const absl::StatusOr<SessionSequence*> found = session_.sequences.Find(work_.sequence);
  if (!found.ok()) return found.status();
  sequence_ = *found;
  if (absl::Status status = session_.CheckAdapter(*sequence_); !status.ok()) return status;
  if (absl::Status status = sequence_->Ready(); !status.ok()) return status;
  if (absl::Status status = CheckLength(sequence_->length()); !status.ok()) return status;
  sequence_->Mark();
  marked_ = true;
  return absl::OkStatus();
}

absl::Status SessionLane::MakeSequence() {
  if (absl::Status status = CheckLength(0); !status.ok()) return status;
  const absl::StatusOr<SequenceHandle> handle = session_.sequences.Create(session_.adapter);
  if (!handle.ok()) return handle.status();
  made_ = true;
  result_.sequence = *handle;
  sequence_ = *session_.sequences.Find(*handle);
  return absl::OkStatus();
}

absl::Status SessionLane::Append() {
  if (work_.input.empty()) return absl::OkStatus();
  const absl::StatusOr<BoundMedia> bound = session_.media.TakeBindings(work_.tag, work_.input);
  if (!bound.ok()) return bound.status();
  const uint64_t start = sequence_->length();
  for (const auto& [offset, item] : *bound) sequence_->media().Add(start + offset, item);
  if (start == 0) {
    if (absl::Status status = UseCached(*bound); !status.ok()) return status;
  }
  return sequence_->Append(work_.input.subspan(sequence_->length() - start), /*drawn=*/false);
}

absl::Status SessionLane::UseCached(const BoundMedia& bound) {
  const MediaMap media = MarksOf(bound);
  PrefixCache& cache = session_.cache;
  const PrefixCache::Prefix prefix{work_.input, &media, sequence_->adapter().fingerprint};
  // Before the search: making room for the sequence may evict what is found.
  if (cache.EndOf(cache.Find(prefix)) > 0) {
    if (absl::Status status = sequence_->Reserve(); !status.ok()) return status;
  }
  adopted_ = session_.leases.Longest(prefix);
  CacheNode node = cache.Find(prefix);
  if (cache.EndOf(adopted_) > cache.EndOf(node)) node = adopted_;
  if (node == CacheNode{}) return absl::OkStatus();
  return sequence_->UseCached(cache.Use(node), work_.input);
}

absl::Status SessionLane::BeginDrawing() {
  state_ = State::kComputing;
  full_at_start_ = draws() && Full();
  const bool drawing = draws() && !full_at_start_;
  if (!drawing && !work_.want_logits && sequence_->computed() >= Target()) {
    End(FinishReason::kNotFinished);
    return absl::OkStatus();
  }
  if (sequence_->length() == 0) {  // logits of nothing were asked for
    End(FinishReason::kNotFinished);
    return absl::OkStatus();
  }
  // A sequence that was restored has no images, but they may be here.
  const uint64_t last = sequence_->length() - (eager_ ? 0 : 1);
  const uint64_t next = std::min(sequence_->computed(), last);
  if (!sequence_->media().Complete(next, sequence_->length())) {
    sequence_->media().Attach([this](uint64_t media) { return session_.media.Find(media); });
    if (!sequence_->media().Complete(next, sequence_->length())) return NoMediaToCompute();
  }
  // Now, so that a lane that finds no room is the one that fails.
  if (absl::Status status = sequence_->Reserve(); !status.ok()) return status;
  return drawing ? ReadSoFar() : absl::OkStatus();
}

// Has the grammar read what was drawn since the last input.
absl::Status SessionLane::ReadSoFar() {
  if (grammar_ == nullptr) return absl::OkStatus();
  output_start_ = sequence_->OutputStart();
  std::optional<GrammarCursor> cursor = std::exchange(sequence_->cursor(), std::nullopt);
  if (cursor.has_value() && cursor->grammar == work_.grammar && cursor->start == output_start_ &&
      cursor->end == sequence_->length()) {
    constraint_ = std::move(cursor->constraint);
    return absl::OkStatus();
  }
  constraint_.emplace(grammar_);
  for (const Token token : sequence_->tokens().subspan(output_start_)) {
    if (constraint_->Accept(token)) continue;
    return absl::InvalidArgumentError("the text so far is not one of the grammar's");
  }
  return absl::OkStatus();
}

bool SessionLane::Full() const { return sequence_->length() >= session_.facts.context(); }

// How much must be computed. The last token of an input that nothing is drawn after can wait for
// the draw, which needs its logits.
uint64_t SessionLane::Target() const {
  const uint64_t length = sequence_->length();
  const bool last = eager_ || (draws() && !full_at_start_) || work_.want_logits;
  return last || length == 0 ? length : length - 1;
}

void SessionLane::RefillDrafts() {
  if (drafter_ == nullptr || !drafts_.empty()) return;
  const std::vector<Token> drafts = drafter_->Draft(
      {sequence_, &work_.sampling, bias_, constraint_.has_value() ? &*constraint_ : nullptr});
  drafts_.assign(drafts.begin(), drafts.end());
}

// The logits of the last token are wanted, so it is computed (again).
void SessionLane::MakeRoomForLast() {
  const uint64_t target = Target();
  if (!eager_ && target == sequence_->length() && sequence_->computed() >= target) {
    sequence_->Uncompute(target - 1);
  }
}

bool SessionLane::NextIsMedia() {
  MakeRoomForLast();
  const SequenceMedia::Run run = sequence_->media().At(sequence_->computed());
  return run.part != nullptr && run.part->text.empty();
}

PassShare SessionLane::Share(size_t max_tokens, size_t max_outputs) {
  MakeRoomForLast();
  PassShare share;
  share.sequence = sequence_;
  const uint64_t target = Target();
  if (sequence_->computed() < target) share.Take(sequence_->NextPiece(target, max_tokens));
  valid_ = sequence_->computed() + share.tokens.size();
  if (valid_ < sequence_->length() || target < sequence_->length()) return share;
  share.outputs = 1;
  if (!draws() || full_at_start_ || share.rows != nullptr) return share;
  AddDrafts(share, max_tokens, max_outputs);
  return share;
}

void SessionLane::AddDrafts(PassShare& share, size_t max_tokens, size_t max_outputs) {
  RefillDrafts();
  // A draft that could not be followed by a draw would be computed in vain.
  const uint64_t draws_left = work_.max_tokens - result_.tokens.size();
  const uint64_t room = session_.facts.context() - sequence_->length();
  const size_t most = std::min({max_tokens - share.tokens.size(), max_outputs - 1,
                                static_cast<size_t>(std::min(draws_left, room) - 1)});
  const size_t count = std::min(most, drafts_.size());
  share.tokens.insert(share.tokens.end(), drafts_.begin(),
                      drafts_.begin() + static_cast<ptrdiff_t>(count));
  share.outputs += count;
}

// False: there is nothing to draw from.
bool SessionLane::Begin(const PassShare& share) {
  if (!active() || !share.complete) {
    Settle();
    return false;
  }
  if (draws() && !full_at_start_) return share.outputs > 0;
  if (sequence_->computed() < Target()) return false;
  if (share.outputs > 0) {
    result_.logits = TopLogits(session_.model.Logits(share, 0), kMaxLaneLogits);
  }
  End(FinishReason::kNotFinished);
  return false;
}

bool SessionLane::DrawFrom(const PassShare& share, size_t i) {
  if (absl::Status status = Draw(session_.model.Logits(share, i)); !status.ok()) {
    Fail(std::move(status));
    return false;
  }
  const Token token = result_.tokens.back();
  const bool accepted = CheckDraft(token);
  CheckEnd(token);
  // Of the draft that was right the state is there already.
  if (accepted && i + 1 < share.outputs) ++valid_;
  return accepted;
}

absl::Status SessionLane::Draw(absl::Span<float> logits) {
  if (logits.empty()) return absl::InternalError("the model has no logits");
  if (work_.want_logits) result_.logits = TopLogits(logits, kMaxLaneLogits);
  superfluid::Draw draw;
  draw.params = &work_.sampling;
  draw.bias = bias_;
  draw.filter = constraint_.has_value() ? &*constraint_ : nullptr;
  draw.history = sequence_->tokens();
  const absl::StatusOr<Token> token = DrawToken(logits, draw);
  if (!token.ok()) return token.status();
  if (constraint_.has_value() && !constraint_->Accept(*token)) {
    return absl::InternalError("the grammar does not take the token that it allowed");
  }
  absl::Status status = sequence_->Append(absl::MakeConstSpan(&*token, 1), /*drawn=*/true);
  if (status.ok()) result_.tokens.push_back(*token);
  return status;
}

// Whether the token is the next draft. A verify lane ends with the first that is not, or after all.
bool SessionLane::CheckDraft(Token token) {
  if (!drafts_.empty() && drafts_.front() == token) {
    drafts_.pop_front();
    ++result_.accepted_drafts;
    return true;
  }
  drafts_.clear();
  if (work_.kind == LaneKind::kVerify) End(FinishReason::kNotFinished);
  return false;
}

void SessionLane::CheckEnd(Token token) {
  const auto& stops = work_.stop_tokens;
  const bool end_of_text = constraint_.has_value() && session_.model.EndsText(token);
  if (end_of_text || std::find(stops.begin(), stops.end(), token) != stops.end()) {
    End(FinishReason::kStopToken);
  } else if (Full()) {
    End(FinishReason::kLength);
  } else if (result_.tokens.size() >= work_.max_tokens) {
    End(FinishReason::kNotFinished);
  }
}

// Forgets the state of drafts that were wrong.
void SessionLane::Settle() {
  if (sequence_ == nullptr) return;
  sequence_->Uncompute(std::min({sequence_->computed(), valid_, sequence_->length()}));
}

void SessionLane::Stop() {
  if (active() || state_ == State::kPrepared) End(FinishReason::kStopped);
}

void SessionLane::End(FinishReason finish) {
  state_ = State::kEnded;
  result_.finish =
      full_at_start_ && finish == FinishReason::kNotFinished ? FinishReason::kLength : finish;
}

void SessionLane::Fail(absl::Status status) {
  End(FinishReason::kError);
  result_.status = std::move(status);
  result_.tokens.clear();
  result_.logits.clear();
  result_.accepted_drafts = 0;
  adopted_ = {};
  constraint_.reset();
  if (made_) {
    (void)session_.sequences.Free(result_.sequence);
    sequence_ = nullptr;
    result_.sequence = {};
  } else if (marked_) {
    sequence_->RollBack();
  }
}

LaneResult SessionLane::TakeResult() {
  if (sequence_ != nullptr) {
    if (!made_) result_.sequence = work_.sequence;
    result_.position = sequence_->length();
    session_.sequences.SetLane(work_.tag, result_.sequence);
    if (constraint_.has_value()) {
      sequence_->cursor() =
          GrammarCursor{work_.grammar, output_start_, sequence_->length(), *std::move(constraint_)};
    }
  }
  if (adopted_ != CacheNode{}) session_.leases.Adopt(adopted_);
  return std::move(result_);
}

}  // namespace superfluid
