#ifndef SUPERFLUID_PROTOCOL_MESSAGES_TICK_MESSAGES_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_TICK_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/ids.h"
#include "protocol/messages/session_messages.h"
#include "protocol/messages/state_op_messages.h"
#include "protocol/messages/status.h"
#include "protocol/messages/token_span.h"

// The messages of a tick.
namespace superfluid::linkw {

// All append the lane's input to its sequence first.
enum class LaneKind : uint8_t {
  kPrefill = 1,  // draws nothing; REQUIRES: max_tokens is 0 (TICK-12)
  kDecode = 2,   // draws up to max_tokens
  kVerify = 3,   // draws one token, and one more for each right draft, up to max_tokens
};

struct Sampling {  // all numbers are finite
  float temperature = 0;
  uint32_t top_k = 0;
  float top_p = 0;
  float min_p = 0;
  float repetition_penalty = 0;
  uint64_t seed = 0;
  bool operator==(const Sampling&) const = default;
};

struct Lane {
  LaneTag lane_tag{};
  SequenceId sequence{};  // 0: a new one
  TokenSpan input;
  LaneKind kind = LaneKind::kDecode;
  uint32_t max_tokens = 0;  // to draw in this tick: at most 1024, and 0 of kPrefill
  Sampling sampling;
  GrammarHandle grammar_handle{};
  LogitBiasHandle logit_bias_handle{};
  std::vector<Token> stop_tokens;
  StrategySlot strategy_slot{};
  std::vector<Token> draft_tokens;
  bool want_logits = false;
  uint32_t stop_slot = 0;  // 1-based stop bit in the control segment; 0: none
  bool operator==(const Lane&) const = default;
};

inline constexpr uint32_t kTickFlagPartialEmits = 1u << 0;

struct TickPlan {
  uint64_t tick_id = 0;
  uint32_t flags = 0;        // kTickFlag...
  uint64_t deadline_us = 0;  // from receipt; 0: none
  std::vector<Lane> lanes;
  bool operator==(const TickPlan&) const = default;
};

struct TickSubmit {
  TickPlan plan;
  bool operator==(const TickSubmit&) const = default;
};

enum class FinishReason : uint8_t {
  kNotFinished = 0,
  kStopToken = 1,
  kLength = 2,
  kStopped = 3,  // by the control segment
  kError = 4,
};

struct LaneEvent {
  LaneTag lane_tag{};
  TokenSpan out;
  TokenSpan logits;  // count 0: none; else pairs of token and logit (the bits of a float)
  FinishReason finish_reason = FinishReason::kNotFinished;
  SequenceId sequence{};
  uint64_t position = 0;
  uint32_t accepted_drafts = 0;
  Status status = Status::kOk;  // of this lane alone; not kOk: kError
  std::string message;          // if not kOk
  bool operator==(const LaneEvent&) const = default;
};

struct TickTimings {
  uint64_t queue_us = 0;
  uint64_t engine_us = 0;
  bool operator==(const TickTimings&) const = default;
};

struct TickEvents {
  uint64_t tick_id = 0;
  std::vector<LaneEvent> lanes;
  std::vector<StateOpDone> op_completions;  // each was sent as a StateOpDone before
  MemCounters mem;
  TickTimings timings;
  uint32_t dropped_emits = 0;
  bool operator==(const TickEvents&) const = default;
};

struct TickResult {
  Status status = Status::kOk;
  std::string message;
  TickEvents events;  // if kOk, or if it was stopped (kCancelled, kDeadlineExceeded) underway
  bool operator==(const TickResult&) const = default;
};

struct TickEmit {
  uint64_t tick_id = 0;
  LaneTag lane_tag{};
  std::vector<Token> tokens;
  uint32_t index = 0;  // of the first token among the lane's tokens of this tick
  bool operator==(const TickEmit&) const = default;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_TICK_MESSAGES_H_
