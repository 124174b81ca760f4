#include "engine/sim/sim_lane.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sampling/tick_check.h"

namespace superfluid {
void SimLane::Prepare() {
  absl::Status status = CheckWork();
  if (status.ok()) status = work_.sequence == SequenceHandle{} ? MakeSequence() : FindSequence();
  if (!status.ok()) return Fail(std::move(status));
  state_ = State::kPrepared;
}

absl::Status SimLane::CheckWork() {
  if (absl::Status status = CheckLane(work_); !status.ok()) return status;
  for (const absl::Span<const Token> tokens : {work_.input, work_.stop_tokens, work_.drafts}) {
    if (absl::Status status = CheckSimTokens(world_, tokens); !status.ok()) return status;
  }
  const auto grammar = world_.grammars.Find(work_.grammar);
  if (!grammar.ok()) return grammar.status();
  const auto bias = world_.biases.Find(work_.logit_bias);
  if (!bias.ok()) return bias.status();
  const auto drafter = world_.strategies.Find(work_.strategy);
  if (!drafter.ok()) return drafter.status();
  grammar_ = *grammar;
  if (work_.kind == LaneKind::kDecode) drafter_ = *drafter;
  rules_ = {world_.options.vocab, world_.adapter.current().fingerprint, work_.sampling, *bias};
  return absl::OkStatus();
}

absl::Status SimLane::FindSequence() {
  const absl::StatusOr<SimSequence*> found = world_.sequences.Find(work_.sequence);
  if (!found.ok()) return found.status();
  sequence_ = *found;
  if (sequence_->adapter().id != world_.adapter.current().id) {
    return absl::FailedPreconditionError("the sequence was made under another adapter");
  }
  if (absl::Status status = sequence_->Ready(); !status.ok()) return status;
  before_ = sequence_->GetMark();
  if (work_.input.size() > world_.options.context - sequence_->length()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input does not fit the context of ", world_.options.context, " tokens"));
  }
  if (work_.max_tokens > 0 && sequence_->length() + work_.input.size() == 0) {
    return absl::InvalidArgumentError("nothing precedes the draw");
  }
  return absl::OkStatus();
}

absl::Status SimLane::MakeSequence() {
  if (work_.input.size() > world_.options.context) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input does not fit the context of ", world_.options.context, " tokens"));
  }
  if (work_.max_tokens > 0 && work_.input.empty()) {
    return absl::InvalidArgumentError("nothing precedes the draw");
  }
  const absl::StatusOr<SequenceHandle> handle = world_.sequences.Create(world_.adapter.current());
  if (!handle.ok()) return handle.status();
  made_ = true;
  result_.sequence = *handle;
  sequence_ = *world_.sequences.Find(*handle);
  if (absl::Status status = sequence_->Ready(); !status.ok()) return status;
  before_ = sequence_->GetMark();
  return absl::OkStatus();
}

void SimLane::AppendInput() {
  if (state_ != State::kPrepared) return;
  absl::Status status = Append();
  if (status.ok()) status = BeginDrawing();
  if (!status.ok()) Fail(std::move(status));
}

absl::Status SimLane::Append() {
  if (work_.input.empty()) return absl::OkStatus();
  absl::StatusOr<MediaMap> media = world_.media.TakeBindings(work_.tag, work_.input.size());
  if (!media.ok()) return media.status();
  const uint64_t start = sequence_->length();
  if (start == 0) {
    if (absl::Status status = AppendCached(*media); !status.ok()) return status;
  }
  for (uint64_t i = sequence_->length() - start; i < work_.input.size(); ++i) {
    absl::Status status = sequence_->Append(work_.input[i], MediaAt(*media, i), /*drawn=*/false);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SimLane::AppendCached(const MediaMap& media) {
  const PrefixCache::Prefix prefix{work_.input, &media, sequence_->adapter().fingerprint};
  adopted_ = world_.leases.Longest(prefix);
  CacheNode node = world_.cache.Find(prefix);
  if (world_.cache.EndOf(adopted_) > world_.cache.EndOf(node)) node = adopted_;
  if (node == CacheNode{}) return absl::OkStatus();
  std::vector<SimCachedBlock> blocks;
  for (const CachedBlockRef& entry : world_.cache.Use(node)) {
    blocks.push_back(static_cast<const SimCacheEntry&>(*entry).cached);
  }
  sequence_->UseCached(blocks, work_.input, media);
  return sequence_->Ready();
}

absl::Status SimLane::BeginDrawing() {
  if (work_.max_tokens == 0) {
    End(FinishReason::kNotFinished);
    return absl::OkStatus();
  }
  if (grammar_ != nullptr) {
    constraint_.emplace(grammar_);
    const absl::Span<const Token> tokens = sequence_->tokens();
    for (const Token token : tokens.subspan(sequence_->OutputStart())) {
      if (!constraint_->Accept(token)) {
        return absl::InvalidArgumentError("the text so far is not one of the grammar's");
      }
    }
  }
  if (work_.kind == LaneKind::kVerify) drafts_.assign(work_.drafts.begin(), work_.drafts.end());
  state_ = State::kDrawing;
  if (Full()) End(FinishReason::kLength);
  return absl::OkStatus();
}

bool SimLane::Full() const { return sequence_->length() >= world_.options.context; }

void SimLane::RefillDrafts() {
  if (drafter_ == nullptr || !drafts_.empty() || accepted_) return;
  const std::vector<Token> drafts =
      DraftTokens(*drafter_, {&rules_, sequence_->point(), sequence_->tokens(),
                              constraint_.has_value() ? &*constraint_ : nullptr});
  drafts_.assign(drafts.begin(), drafts.end());
}

bool SimLane::DrawOne() {
  const bool new_pass = !accepted_;
  if (absl::Status status = Draw(); !status.ok()) Fail(std::move(status));
  return new_pass;
}

absl::Status SimLane::Draw() {
  RefillDrafts();
  drawn_from_ = sequence_->point();
  const absl::StatusOr<Token> token = DrawNext(rules_, *drawn_from_, sequence_->tokens(),
                                               constraint_.has_value() ? &*constraint_ : nullptr);
  if (!token.ok()) return token.status();
  if (absl::Status status = sequence_->Append(*token, /*media=*/0, /*drawn=*/true); !status.ok()) {
    return status;
  }
  result_.tokens.push_back(*token);
  if (constraint_.has_value() && !constraint_->Accept(*token)) {
    return absl::InternalError("the grammar does not take the token that it allowed");
  }
  CheckDraft(*token);
  CheckEnd(*token);
  return absl::OkStatus();
}

// A verify lane ends with the first draft that is not what was drawn, or after all of them.
void SimLane::CheckDraft(Token token) {
  accepted_ = !drafts_.empty() && drafts_.front() == token;
  if (accepted_) {
    drafts_.pop_front();
    ++result_.accepted_drafts;
    return;
  }
  drafts_.clear();
  if (work_.kind == LaneKind::kVerify) End(FinishReason::kNotFinished);
}

void SimLane::CheckEnd(Token token) {
  const auto& stops = work_.stop_tokens;
  const bool end_of_text = constraint_.has_value() && token == kSimEndOfText;
  if (end_of_text || std::find(stops.begin(), stops.end(), token) != stops.end()) {
    End(FinishReason::kStopToken);
  } else if (Full()) {
    End(FinishReason::kLength);
  } else if (result_.tokens.size() >= work_.max_tokens) {
    End(FinishReason::kNotFinished);
  }
}

void SimLane::Stop() {
  if (state_ == State::kDrawing || state_ == State::kPrepared) End(FinishReason::kStopped);
}

void SimLane::End(FinishReason finish) {
  state_ = State::kEnded;
  result_.finish = finish;
}

void SimLane::Fail(absl::Status status) {
  End(FinishReason::kError);
  result_.status = std::move(status);
  result_.tokens.clear();
  result_.accepted_drafts = 0;
  adopted_ = {};
  drawn_from_.reset();
  if (made_) {
    (void)world_.sequences.Free(result_.sequence);
    sequence_ = nullptr;
    result_.sequence = {};
  } else if (before_.has_value()) {
    sequence_->RollBack(*before_);
  }
}

void SimLane::AddLogits() {
  if (!work_.want_logits || sequence_->length() == 0) return;
  std::vector<float> logits(world_.options.vocab);
  const SimPoint& point = drawn_from_.has_value() ? *drawn_from_ : sequence_->point();
  SimLogits(point, rules_.adapter, absl::MakeSpan(logits));
  result_.logits = TopLogits(logits, kMaxLaneLogits);
}

LaneResult SimLane::TakeResult() {
  if (sequence_ != nullptr) {
    if (!made_) result_.sequence = work_.sequence;
    result_.position = sequence_->length();
    if (result_.status.ok()) AddLogits();
    world_.sequences.SetLane(work_.tag, result_.sequence);
  }
  if (adopted_ != CacheNode{}) world_.leases.Adopt(adopted_);
  return std::move(result_);
}

}  // namespace superfluid
