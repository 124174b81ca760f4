#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/messages/messages.h"

// What is generated, and what came of it: plain values that the loop, the printers and the commands
// share.
namespace superfluid::ctl {

struct GenerationPlan {
  std::vector<linkw::Token> prompt;  // may be empty if there is a sequence to go on with
  size_t lanes = 1;                  // of the same prompt; each draws with the seed + its number
  linkw::SequenceId sequence{};      // to go on with, with one lane; 0: new ones
  uint32_t max_tokens = 0;           // to draw in each lane; 0: the prompt only
  uint32_t tokens_per_tick = 16;
  linkw::Sampling sampling;
  std::vector<linkw::Token> stop_tokens;
  linkw::GrammarHandle grammar{};
  bool want_logits = false;
};

struct LaneOutcome {
  linkw::SequenceId sequence{};
  std::vector<linkw::Token> tokens;  // drawn
  linkw::FinishReason finish = linkw::FinishReason::kNotFinished;
  uint64_t position = 0;  // tokens in the sequence
  linkw::Status status = linkw::Status::kOk;
  std::string message;
};

struct GenerationOutcome {
  linkw::Status status = linkw::Status::kOk;  // of the run; each lane has its own
  std::string message;
  std::vector<LaneOutcome> lanes;
  size_t prompt_tokens = 0;
  uint64_t ticks = 0;
  uint64_t dropped_emits = 0;
  absl::Duration elapsed;
  std::optional<absl::Duration> first_token;
  // From the stop to the answer of the tick that it hit; nullopt: nobody stopped it.
  std::optional<absl::Duration> stop;

  uint64_t TokensDrawn() const {
    uint64_t drawn = 0;
    for (const LaneOutcome& lane : lanes) drawn += lane.tokens.size();
    return drawn;
  }
};

// Hears of tokens as they come. Called on the loop's thread, never after Run returned.
class GenerationListener {
 public:
  virtual ~GenerationListener() = default;
  // `index`: of the first among the tokens drawn in the lane. Each token comes once, in order.
  virtual void OnTokens(size_t lane, uint64_t index, absl::Span<const linkw::Token> tokens) = 0;
  // The most likely tokens at `position`, most likely first.
  virtual void OnLogits(size_t lane, uint64_t position,
                        absl::Span<const linkw::TokenLogit> logits) = 0;
};

// "max-tokens", "stop token", "context full", "stopped", "error".
std::string_view FinishName(linkw::FinishReason reason);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_H_
