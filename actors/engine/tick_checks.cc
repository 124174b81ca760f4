#include "actors/engine/tick_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/tick.h"
#include "shm/control.h"

namespace superfluid {
namespace {

// Each rule once, for the quick check and for the one that says what is wrong.

bool DrawsNoMoreThanItMay(const linkw::Lane& lane) { return lane.max_tokens <= kMaxLaneTokens; }

bool IsNoPrefillThatDraws(const linkw::Lane& lane) {
  return lane.kind != linkw::LaneKind::kPrefill || lane.max_tokens == 0;
}

bool HasDraftsToVerifyOnly(const linkw::Lane& lane) {
  return lane.kind == linkw::LaneKind::kVerify || lane.draft_tokens.empty();
}

bool HasStrategyToDecodeOnly(const linkw::Lane& lane) {
  return lane.kind == linkw::LaneKind::kDecode || lane.strategy_slot == linkw::StrategySlot{};
}

bool HasStopBitThatIs(const linkw::Lane& lane) { return lane.stop_slot <= kControlLanes; }

bool NothingNegative(const linkw::Sampling& sampling) {
  return !(sampling.temperature < 0 || sampling.repetition_penalty < 0);
}

bool SharesInRange(const linkw::Sampling& sampling) {
  return !(sampling.top_p < 0 || sampling.top_p > 1 || sampling.min_p < 0 || sampling.min_p > 1);
}

template <class Handle>
bool IsKnown(const HandleBook& handles, HandleKind kind, Handle handle) {
  return handle == Handle{} || handles.Knows(kind, static_cast<uint64_t>(handle));
}

template <class Handle>
absl::Status CheckKnown(const HandleBook& handles, HandleKind kind, Handle handle) {
  return handle == Handle{} ? absl::OkStatus() : handles.Check(kind, static_cast<uint64_t>(handle));
}

absl::Status CheckShape(const linkw::Lane& lane) {
  if (!DrawsNoMoreThanItMay(lane)) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_tokens is ", lane.max_tokens, "; at most ", kMaxLaneTokens, " a tick"));
  }
  if (!IsNoPrefillThatDraws(lane)) {
    return absl::InvalidArgumentError("a prefill draws nothing: max_tokens must be 0");
  }
  if (!HasDraftsToVerifyOnly(lane)) {
    return absl::InvalidArgumentError("draft tokens belong to a verify lane");
  }
  if (!HasStrategyToDecodeOnly(lane)) {
    return absl::InvalidArgumentError("a strategy belongs to a decode lane");
  }
  if (!HasStopBitThatIs(lane)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no stop bit ", lane.stop_slot, " (1 to ", kControlLanes, ")"));
  }
  return absl::OkStatus();
}

absl::Status CheckSampling(const linkw::Sampling& sampling) {
  if (!NothingNegative(sampling)) {
    return absl::InvalidArgumentError("temperature and repetition_penalty are not negative");
  }
  if (!SharesInRange(sampling)) {
    return absl::InvalidArgumentError("top_p and min_p are in [0, 1]");
  }
  return absl::OkStatus();
}

absl::Status CheckHandles(const HandleBook& handles, const linkw::Lane& lane) {
  absl::Status status = CheckKnown(handles, HandleKind::kSequence, lane.sequence);
  if (status.ok()) status = CheckKnown(handles, HandleKind::kGrammar, lane.grammar_handle);
  if (status.ok()) status = CheckKnown(handles, HandleKind::kLogitBias, lane.logit_bias_handle);
  if (status.ok()) status = CheckKnown(handles, HandleKind::kStrategy, lane.strategy_slot);
  if (!status.ok() || lane.sequence != linkw::SequenceId{}) return status;
  return handles.CheckRoom(HandleKind::kSequence);
}

absl::Status CheckTokens(const EngineInfo& info, absl::Span<const Token> tokens) {
  for (const Token token : tokens) {
    if (token >= info.vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "token ", token, " is outside the vocabulary (", info.vocab_size, " tokens)"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsLaneFine(const LaneContext& context, const linkw::Lane& lane,
                absl::Span<const Token> input) {
  const HandleBook& handles = context.handles;
  return DrawsNoMoreThanItMay(lane) && IsNoPrefillThatDraws(lane) && HasDraftsToVerifyOnly(lane) &&
         HasStrategyToDecodeOnly(lane) && HasStopBitThatIs(lane) &&
         NothingNegative(lane.sampling) && SharesInRange(lane.sampling) &&
         IsKnown(handles, HandleKind::kSequence, lane.sequence) &&
         IsKnown(handles, HandleKind::kGrammar, lane.grammar_handle) &&
         IsKnown(handles, HandleKind::kLogitBias, lane.logit_bias_handle) &&
         IsKnown(handles, HandleKind::kStrategy, lane.strategy_slot) &&
         (lane.sequence != linkw::SequenceId{} ||
          handles.size(HandleKind::kSequence) < HandleBook::kMost) &&
         AllInVocabulary(context.info, input) && AllInVocabulary(context.info, lane.draft_tokens) &&
         AllInVocabulary(context.info, lane.stop_tokens);
}

absl::Status CheckLane(const LaneContext& context, const linkw::Lane& lane,
                       absl::Span<const Token> input) {
  absl::Status status = CheckShape(lane);
  if (status.ok()) status = CheckSampling(lane.sampling);
  if (status.ok()) status = CheckHandles(context.handles, lane);
  if (status.ok()) status = CheckTokens(context.info, input);
  if (status.ok()) status = CheckTokens(context.info, lane.draft_tokens);
  if (status.ok()) status = CheckTokens(context.info, lane.stop_tokens);
  return status;
}

bool AllInVocabulary(const EngineInfo& info, absl::Span<const Token> tokens) {
  return std::all_of(tokens.begin(), tokens.end(),
                     [&info](Token token) { return token < info.vocab_size; });
}

uint32_t MostTokens(const linkw::Lane& lane) {
  switch (lane.kind) {
    case linkw::LaneKind::kPrefill:
      return 0;
    case linkw::LaneKind::kDecode:
      return lane.max_tokens;
    case linkw::LaneKind::kVerify:
      return std::min(lane.max_tokens, static_cast<uint32_t>(lane.draft_tokens.size()) + 1);
  }
  return 0;
}

}  // namespace superfluid
