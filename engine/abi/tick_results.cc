#include "engine/abi/tick_results.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "engine/abi/plugin_call.h"
#include "engine/abi/status_codes.h"

namespace superfluid {
namespace {

// Checks one lane; every method is Internal with the rule that is broken.
class LaneCheck {
 public:
  LaneCheck(const TickRules& rules, const LaneWork& work, size_t i)
      : rules_(rules), work_(work), i_(i), raw_(rules.frame.Result(i)) {}

  absl::StatusOr<LaneResult> Take() {
    if (raw_.status != SFL_OK) return TakeFailed();
    for (const auto check :
         {&LaneCheck::CheckTokens, &LaneCheck::CheckEmitted, &LaneCheck::CheckFinish,
          &LaneCheck::CheckLogits, &LaneCheck::CheckNumbers, &LaneCheck::CheckSequence}) {
      if (absl::Status status = (this->*check)(); !status.ok()) return status;
    }
    return Copy();
  }

 private:
  template <typename... Parts>
  absl::Status Broken(const Parts&... rule) const {
    return BrokenRule("run_tick", rule..., " (lane ", i_, ")");
  }

  absl::StatusOr<LaneResult> TakeFailed() const {
    LaneResult result;
    result.status = StatusFromAbi(raw_.status, rules_.frame.Message(i_));
    if (raw_.status < SFL_OK || raw_.status > SFL_DATA_LOSS) {
      return Broken("gave a lane the status ", raw_.status, ", which is no status code");
    }
    result.finish = FinishReason::kError;
    result.sequence = work_.sequence;
    // As it was before the tick; there is none of a sequence that was not made.
    if (work_.sequence != SequenceHandle{}) result.position = raw_.position;
    return result;
  }

  absl::Status CheckTokens() const {
    if (raw_.token_count > rules_.frame.token_capacity(i_)) {
      return Broken("drew ", raw_.token_count, " tokens where ", rules_.frame.token_capacity(i_),
                    " were allowed");
    }
    for (const uint32_t token : Tokens()) {
      if (token >= rules_.vocab_size) {
        return Broken("drew token ", token, ", which is outside the vocabulary");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckEmitted() const {
    const absl::Span<const Token> emitted = rules_.port.emitted(i_);
    const absl::Span<const uint32_t> drawn = Tokens();
    if (emitted.size() > drawn.size() ||
        !std::equal(emitted.begin(), emitted.end(), drawn.begin())) {
      return Broken("emitted other tokens than those of the result");
    }
    return absl::OkStatus();
  }

  absl::Status CheckFinish() const {
    if (raw_.finish == SFL_FINISH_UNSET) return Broken("left a result unset");
    if (raw_.finish > SFL_FINISH_STOPPED) {
      return Broken("finished for the reason ", raw_.finish, ", which is none");
    }
    if (raw_.finish == SFL_FINISH_STOP_TOKEN && raw_.token_count == 0) {
      return Broken("finished with a stop token but drew none");
    }
    if (raw_.finish == SFL_FINISH_STOPPED && !rules_.port.told_to_stop(i_) &&
        !rules_.token.cancelled()) {
      return Broken("stopped a lane that nobody stopped");
    }
    return absl::OkStatus();
  }

  absl::Status CheckLogits() const {
    if (raw_.logit_count > rules_.frame.logit_capacity(i_)) {
      return Broken("reported ", raw_.logit_count, " logits where ",
                    rules_.frame.logit_capacity(i_), " were allowed");
    }
    const absl::Span<const sfl_token_logit> logits = Logits();
    for (size_t k = 0; k < logits.size(); ++k) {
      if (logits[k].token >= rules_.vocab_size) {
        return Broken("reported the logit of token ", logits[k].token,
                      ", which is outside the vocabulary");
      }
      if (std::isnan(logits[k].logit)) return Broken("reported a logit that is no number");
      if (k > 0 && logits[k].logit > logits[k - 1].logit) {
        return Broken("reported logits that are not the most likely first");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckNumbers() const {
    if (raw_.accepted_drafts > raw_.token_count ||
        (work_.kind == LaneKind::kVerify && raw_.accepted_drafts > work_.drafts.size())) {
      return Broken("accepted ", raw_.accepted_drafts, " drafts, more than there were");
    }
    // A lane that was stopped may not have taken all of its input.
    const bool stopped = raw_.finish == SFL_FINISH_STOPPED;
    const uint64_t added = (stopped ? 0 : uint64_t{work_.input.size()}) + raw_.token_count;
    const bool is_new = work_.sequence == SequenceHandle{} && !stopped;
    if (raw_.position < added || (is_new && raw_.position != added)) {
      return Broken("puts a sequence at position ", raw_.position, " after ", added,
                    " tokens were appended");
    }
    return absl::OkStatus();
  }

  absl::Status CheckSequence() const {
    if (work_.sequence == SequenceHandle{}) {
      if (IsUnborn()) return absl::OkStatus();
      return rules_.sequences.CheckNew("run_tick", raw_.sequence);
    }
    if (raw_.sequence == static_cast<uint64_t>(work_.sequence)) return absl::OkStatus();
    return Broken("answered for sequence ", raw_.sequence, " instead of ",
                  static_cast<uint64_t>(work_.sequence));
  }

  // A new sequence that was stopped before anything was made of it.
  bool IsUnborn() const {
    return raw_.finish == SFL_FINISH_STOPPED && raw_.sequence == 0 && raw_.position == 0;
  }

  LaneResult Copy() const {
    LaneResult result;
    result.tokens.assign(Tokens().begin(), Tokens().end());
    for (const sfl_token_logit& logit : Logits()) {
      result.logits.push_back({logit.token, logit.logit});
    }
    result.finish = static_cast<FinishReason>(raw_.finish);
    result.sequence = SequenceHandle{raw_.sequence};
    result.position = raw_.position;
    result.accepted_drafts = raw_.accepted_drafts;
    return result;
  }

  absl::Span<const uint32_t> Tokens() const { return rules_.frame.Tokens(i_, raw_.token_count); }
  absl::Span<const sfl_token_logit> Logits() const {
    return rules_.frame.Logits(i_, raw_.logit_count);
  }

  const TickRules& rules_;
  const LaneWork& work_;
  const size_t i_;
  const sfl_lane_result raw_;
};

}  // namespace

absl::StatusOr<LaneResult> TakeLaneResult(const TickRules& rules, const LaneWork& work, size_t i) {
  return LaneCheck(rules, work, i).Take();
}

}  // namespace superfluid
