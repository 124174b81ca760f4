#include "engine/llama/llama_lane.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/cache/token_provenance.h"
#include "engine/llama/llama_cache.h"
#include "engine/sampling/tick_check.h"

namespace superfluid {
void LlamaLane::Prepare() {
  absl::Status status = CheckWork();
  if (status.ok()) status = work_.sequence == SequenceHandle{} ? MakeSequence() : FindSequence();
  if (status.ok()) status = AppendInput();
  if (status.ok()) status = BeginDrawing();
  if (!status.ok()) Fail(std::move(status));
}

absl::Status LlamaLane::CheckWork() {
  if (absl::Status status = CheckLane(work_); !status.ok()) return status;
  for (const absl::Span<const Token> tokens : {work_.input, work_.stop_tokens, work_.drafts}) {
    if (absl::Status status = world_.CheckTokens(tokens); !status.ok()) return status;
  }
  const auto grammar = world_.grammars.Find(work_.grammar);
  if (!grammar.ok()) return grammar.status();
  const auto bias = world_.biases.Find(work_.logit_bias);
  if (!bias.ok()) return bias.status();
  const auto drafter = world_.strategies.Find(work_.strategy);
  if (!drafter.ok()) return drafter.status();
  grammar_ = *grammar;
  bias_ = *bias;
  if (work_.kind == LaneKind::kDecode) drafter_ = *drafter;
  if (work_.kind == LaneKind::kVerify) drafts_.assign(work_.drafts.begin(), work_.drafts.end());
  return absl::OkStatus();
}

absl::Status LlamaLane::CheckLength(uint64_t length) const {
  const uint64_t context = world_.model->context_tokens();
  if (work_.input.size() > context - std::min(context, length)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input does not fit the context of ", context, " tokens"));
  }
  if (work_.max_tokens > 0 && length + work_.input.size() == 0) {
    return absl::InvalidArgumentError("nothing precedes the draw");
  }
  return absl::OkStatus();
}

absl::Status LlamaLane::FindSequence() {
  const absl::StatusOr<LlamaSequence*> found = world_.sequences.Find(work_.sequence);
  if (!found.ok()) return found.status();
  sequence_ = *found;
  if (absl::Status status = world_.CheckAdapter(*sequence_); !status.ok()) return status;
  if (sequence_->IsMissing()) {
    return absl::FailedPreconditionError("part of the sequence's state is not on the device");
  }
  if (absl::Status status = CheckLength(sequence_->length()); !status.ok()) return status;
  before_ = sequence_->length();
  return absl::OkStatus();
}

absl::Status LlamaLane::MakeSequence() {
  if (absl::Status status = CheckLength(0); !status.ok()) return status;
  const absl::StatusOr<SequenceHandle> handle = world_.sequences.Create(world_.adapter.current());
  if (!handle.ok()) return handle.status();
  made_ = true;
  result_.sequence = *handle;
  sequence_ = *world_.sequences.Find(*handle);
  return absl::OkStatus();
}

absl::Status LlamaLane::AppendInput() {
  if (work_.input.empty()) return absl::OkStatus();
  const absl::StatusOr<BoundMedia> bound = world_.media.TakeBindings(work_.tag, work_.input);
  if (!bound.ok()) return bound.status();
  const uint64_t start = sequence_->length();
  if (start == 0) {
    if (absl::Status status = UseCached(*bound); !status.ok()) return status;
  }
  sequence_->Append(work_.input.subspan(sequence_->length() - start), /*drawn=*/false);
  for (const auto& [offset, item] : *bound) sequence_->media().Add(start + offset, item);
  return absl::OkStatus();
}

absl::Status LlamaLane::UseCached(const BoundMedia& bound) {
  const MediaMap media = MarksOf(bound);
  const PrefixCache::Prefix prefix{work_.input, &media, sequence_->adapter().fingerprint};
  // Before the search: making room for the sequence may evict what is found.
  if (world_.cache.EndOf(world_.cache.Find(prefix)) > 0) {
    if (const auto id = sequence_->Id(); !id.ok()) return id.status();
  }
  adopted_ = world_.leases.Longest(prefix);
  CacheNode node = world_.cache.Find(prefix);
  if (world_.cache.EndOf(adopted_) > world_.cache.EndOf(node)) node = adopted_;
  if (node == CacheNode{}) return absl::OkStatus();
  const LlamaCachedPrefix cached = CachedPrefix(world_.cache.Use(node));
  return sequence_->UseCached(cached.carrier, cached.cells, work_.input);
}

absl::Status LlamaLane::BeginDrawing() {
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
  const uint64_t next = std::min(sequence_->computed(), sequence_->length() - 1);
  if (!sequence_->media().Complete(next, sequence_->length())) {
    sequence_->media().Attach([this](uint64_t media) { return world_.media.Find(media); });
    if (!sequence_->media().Complete(next, sequence_->length())) return NoMediaToCompute();
  }
  // Now, so that a lane that finds no room is the one that fails.
  if (const auto id = sequence_->Id(); !id.ok()) return id.status();
  return drawing ? ReadSoFar() : absl::OkStatus();
}

// Has the grammar read what was drawn since the last input.
absl::Status LlamaLane::ReadSoFar() {
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

bool LlamaLane::Full() const { return sequence_->length() >= world_.model->context_tokens(); }

// How much must be computed. The last token of an input that nothing is drawn after can wait for
// the draw, which needs its logits.
uint64_t LlamaLane::Target() const {
  const uint64_t length = sequence_->length();
  const bool last = (draws() && !full_at_start_) || work_.want_logits;
  return last || length == 0 ? length : length - 1;
}

void LlamaLane::RefillDrafts() {
  if (drafter_ == nullptr || !drafts_.empty()) return;
  const std::vector<Token> drafts = drafter_->Draft(sequence_->tokens());
  drafts_.assign(drafts.begin(), drafts.end());
}

// The logits of the last token are wanted, so it is computed (again).
void LlamaLane::MakeRoomForLast() {
  const uint64_t target = Target();
  if (target == sequence_->length() && sequence_->computed() >= target) {
    sequence_->Uncompute(target - 1);
  }
}

bool LlamaLane::NextIsMedia() {
  MakeRoomForLast();
  const SequenceMedia::Run run = sequence_->media().At(sequence_->computed());
  return run.part != nullptr && run.part->text.empty();
}

LlamaShare LlamaLane::Share(size_t max_tokens, size_t max_outputs) {
  MakeRoomForLast();
  LlamaShare share;
  share.sequence = sequence_;
  const uint64_t target = Target();
  share.Take(sequence_->NextPiece(target, max_tokens));
  valid_ = sequence_->computed() + share.tokens.size();
  if (valid_ < sequence_->length() || target < sequence_->length()) return share;
  share.outputs = 1;
  if (!draws() || full_at_start_ || share.rows != nullptr) return share;
  AddDrafts(share, max_tokens, max_outputs);
  return share;
}

void LlamaLane::AddDrafts(LlamaShare& share, size_t max_tokens, size_t max_outputs) {
  RefillDrafts();
  // A draft that could not be followed by a draw would be computed in vain.
  const uint64_t draws_left = work_.max_tokens - result_.tokens.size();
  const uint64_t room = world_.model->context_tokens() - sequence_->length();
  const size_t most = std::min({max_tokens - share.tokens.size(), max_outputs - 1,
                                static_cast<size_t>(std::min(draws_left, room) - 1)});
  const size_t count = std::min(most, drafts_.size());
  share.tokens.insert(share.tokens.end(), drafts_.begin(),
                      drafts_.begin() + static_cast<ptrdiff_t>(count));
  share.outputs += count;
}

// False: there is nothing to draw from.
bool LlamaLane::Begin(const LlamaShare& share) {
  if (!active() || !share.complete) {
    Settle();
    return false;
  }
  if (draws() && !full_at_start_) return share.outputs > 0;
  if (sequence_->computed() < Target()) return false;
  if (share.outputs > 0) {
    result_.logits = TopLogits(world_.decoder.Logits(share, 0), kMaxLaneLogits);
  }
  End(FinishReason::kNotFinished);
  return false;
}

bool LlamaLane::DrawFrom(const LlamaShare& share, size_t i) {
  if (absl::Status status = Draw(world_.decoder.Logits(share, i)); !status.ok()) {
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

absl::Status LlamaLane::Draw(absl::Span<float> logits) {
  if (logits.empty()) return absl::InternalError("the library has no logits");
  if (std::isnan(logits[0])) world_.cells_spoilt = true;
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
  sequence_->Append(absl::MakeConstSpan(&*token, 1), /*drawn=*/true);
  result_.tokens.push_back(*token);
  return absl::OkStatus();
}

// Whether the token is the next draft. A verify lane ends with the first that is not, or after all.
bool LlamaLane::CheckDraft(Token token) {
  if (!drafts_.empty() && drafts_.front() == token) {
    drafts_.pop_front();
    ++result_.accepted_drafts;
    return true;
  }
  drafts_.clear();
  if (work_.kind == LaneKind::kVerify) End(FinishReason::kNotFinished);
  return false;
}

void LlamaLane::CheckEnd(Token token) {
  const auto& stops = work_.stop_tokens;
  const bool end_of_text = constraint_.has_value() && world_.model->EndsText(token);
  if (end_of_text || std::find(stops.begin(), stops.end(), token) != stops.end()) {
    End(FinishReason::kStopToken);
  } else if (Full()) {
    End(FinishReason::kLength);
  } else if (result_.tokens.size() >= work_.max_tokens) {
    End(FinishReason::kNotFinished);
  }
}

// Forgets the state of drafts that were wrong.
void LlamaLane::Settle() {
  if (sequence_ == nullptr) return;
  sequence_->Uncompute(std::min({sequence_->computed(), valid_, sequence_->length()}));
}

void LlamaLane::Stop() {
  if (active()) End(FinishReason::kStopped);
}

void LlamaLane::End(FinishReason finish) {
  state_ = State::kEnded;
  result_.finish =
      full_at_start_ && finish == FinishReason::kNotFinished ? FinishReason::kLength : finish;
}

void LlamaLane::Fail(absl::Status status) {
  End(FinishReason::kError);
  result_.status = std::move(status);
  result_.tokens.clear();
  result_.logits.clear();
  result_.accepted_drafts = 0;
  adopted_ = {};
  constraint_.reset();
  if (made_) {
    (void)world_.sequences.Free(result_.sequence);
    sequence_ = nullptr;
    result_.sequence = {};
  } else if (before_.has_value()) {
    sequence_->RollBack(*before_);
  }
}

LaneResult LlamaLane::TakeResult() {
  if (sequence_ != nullptr) {
    if (!made_) result_.sequence = work_.sequence;
    result_.position = sequence_->length();
    world_.sequences.SetLane(work_.tag, result_.sequence);
    if (constraint_.has_value()) {
      sequence_->cursor() =
          GrammarCursor{work_.grammar, output_start_, sequence_->length(), *std::move(constraint_)};
    }
  }
  if (adopted_ != CacheNode{}) world_.leases.Adopt(adopted_);
  return std::move(result_);
}

}  // namespace superfluid
