#ifndef SUPERFLUID_ENGINE_TICK_H_
#define SUPERFLUID_ENGINE_TICK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/handles.h"

namespace superfluid {

// How the next token is drawn from the logits. For every number 0 means "off".
//
// The random stream is defined: the draw at position p of a sequence (p: how many tokens precede
// the drawn one) depends on `seed` and p alone, not on how many draws a tick makes. So a decode may
// be split into ticks, repeated, forked or restored and gives the same tokens.
struct SamplingParams {
  float temperature = 0;         // 0: the most likely token, the lowest id among equals
  uint32_t top_k = 0;            // keep the k most likely tokens
  float top_p = 0;               // keep the smallest set whose probability reaches this, (0, 1]
  float min_p = 0;               // keep tokens at least this likely relative to the most likely one
  float repetition_penalty = 0;  // > 0; 1 has no effect. Over the tokens of the sequence
  uint64_t seed = 0;
};

enum class LaneKind : uint8_t {
  // Appends `input` to the sequence. Draws nothing; max_tokens is 0.
  kPrefill = 1,
  // Appends `input` (may be empty), then draws up to max_tokens tokens, each of which is appended.
  // At least one token must precede a draw.
  kDecode = 2,
  // Appends `input` (may be empty), then checks `drafts`: draws a token, and as long as it is the
  // next draft, one more; so between 1 and drafts + 1 tokens, at most max_tokens. What comes out is
  // a prefix of what kDecode would have drawn, whatever the drafts are.
  kVerify = 3,
};

// What one lane of a tick asks for. Spans are valid during RunTick.
struct LaneWork {
  LaneTag tag{};
  SequenceHandle sequence{};  // 0: a new one, named in the result
  LaneKind kind = LaneKind::kDecode;
  absl::Span<const Token> input;
  uint32_t max_tokens = 0;  // drawn in this tick, at most kMaxLaneTokens
  SamplingParams sampling;
  // Constrains what is drawn: the text since the last input of the sequence must be a prefix of
  // what the grammar allows.
  GrammarHandle grammar{};
  LogitBiasHandle logit_bias{};
  absl::Span<const Token> stop_tokens;
  StrategySlot strategy{};  // of kDecode: may draw faster, never otherwise
  absl::Span<const Token> drafts;
  bool want_logits = false;
};

inline constexpr uint32_t kMaxLaneTokens = 1024;
inline constexpr size_t kMaxLaneLogits = 32;

enum class FinishReason : uint8_t {
  kNotFinished = 0,
  kStopToken = 1,  // the last token drawn is a stop token (and is part of the sequence)
  kLength = 2,     // the sequence is as long as the model's context; nothing can be appended
  kStopped = 3,    // LaneStopped said so, or the tick's token was set
  kError = 4,      // see LaneResult::status; the sequence is as it was before the tick
};

struct TokenLogit {
  Token token = 0;
  float logit = 0;
  friend bool operator==(const TokenLogit&, const TokenLogit&) = default;
};

struct LaneResult {
  // What went wrong with this lane alone. InvalidArgument (a token outside the vocabulary, a draw
  // from nothing), FailedPrecondition (part of the sequence's state is not on the device, or its
  // spaces disagree), ResourceExhausted (no room for its state).
  absl::Status status;
  std::vector<Token> tokens;  // drawn in this tick, all of them
  // If asked for: the most likely tokens at the last position, most likely first, at most
  // kMaxLaneLogits, as they were before sampling.
  std::vector<TokenLogit> logits;
  FinishReason finish = FinishReason::kNotFinished;
  SequenceHandle sequence{};
  uint64_t position = 0;         // tokens in the sequence now
  uint32_t accepted_drafts = 0;  // of `drafts`, or of the strategy's own
};

// What a tick may ask of its host. Called within RunTick, on the engine's thread.
class TickHost {
 public:
  virtual ~TickHost() = default;

  // Whether the lane with this index is to stop drawing now. An engine asks between two draws.
  virtual bool LaneStopped(size_t lane) = 0;

  // Tokens just drawn, in order; only if the tick wants partial emits. They come again in the
  // result.
  virtual void Emit(size_t lane, absl::Span<const Token> tokens) = 0;
};

struct Tick {
  uint64_t tick_id = 0;
  bool partial_emits = false;
  // 1 to max_lanes lanes; no tag and no sequence (other than 0) occurs twice.
  absl::Span<const LaneWork> lanes;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_TICK_H_
