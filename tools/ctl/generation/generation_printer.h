#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_PRINTER_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_PRINTER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/ctl/base/output.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/generation/generation.h"
#include "tools/ctl/generation/token_text.h"

namespace superfluid::ctl {

struct GenerationPrintOptions {
  bool json = false;     // an object a line, the last one the result
  bool stream = true;    // as tokens come; else all at the end
  bool as_text = false;  // tokens are bytes
};

// Writes what is generated to an output:
//
//   one lane                the tokens one after the other, then a line break; as text without
//                           the stop token at the end, if it is no character
//   several lanes           a line a batch, "lane 0: ..."
//   logits                  "logits at 17: 65=3.25 66=1.5", on lines of their own
//   json                    {"event":"tokens", ...}, {"event":"logits", ...}, {"event":"result",
//   ...}
//
// A write that fails is told to `on_write_error`, once; after that nothing is written.
// Threads: one. Lifetime: `out` must outlive it.
class GenerationPrinter : public GenerationListener {
 public:
  GenerationPrinter(GenerationPrintOptions options, size_t lanes, Output* out,
                    std::function<void(const absl::Status&)> on_write_error);

  void OnTokens(size_t lane, uint64_t index, absl::Span<const linkw::Token> tokens) override;
  void OnLogits(size_t lane, uint64_t position,
                absl::Span<const linkw::TokenLogit> logits) override;

  // What remains to be said at the end: everything, if it was not streamed.
  void OnEnd(const GenerationOutcome& outcome);

 private:
  void Write(const std::string& text);
  void BreakLine();
  std::string Shown(size_t lane, absl::Span<const linkw::Token> tokens);
  std::string Rest(size_t lane, linkw::FinishReason finish);
  void PrintBatch(size_t lane, absl::Span<const linkw::Token> tokens);

  const GenerationPrintOptions options_;
  Output* out_;
  const std::function<void(const absl::Status&)> on_write_error_;
  std::vector<ByteTokenText> texts_;  // of each lane
  // The last tokens of a lane that are no text: shown when more follows, or the lane does not end
  // with a stop token.
  std::vector<std::vector<linkw::Token>> held_;
  bool in_line_ = false;  // the cursor stands behind tokens
  bool failed_ = false;
};

// The result as JSON.
Json GenerationJson(const GenerationOutcome& outcome, bool as_text);

// "57 tokens in 520 ms (110 tokens/s), 4 ticks, prompt of 5, first after 12.0 ms; ended by:
// max-tokens" and a line break. Pure.
std::string GenerationSummary(const GenerationOutcome& outcome);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_GENERATION_PRINTER_H_
