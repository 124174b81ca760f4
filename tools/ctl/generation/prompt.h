#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_PROMPT_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_PROMPT_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// Where a prompt comes from: exactly one of the three.
struct PromptOptions {
  std::vector<linkw::Token> tokens;
  std::optional<std::string> text;
  std::string file;  // "-": standard input
};

struct Prompt {
  std::vector<linkw::Token> tokens;
  bool is_text = false;  // the tokens are bytes
};

// Adds --text and --file; the caller adds its own way to name tokens, which goes into
// `options.tokens`. `options` must outlive `app`.
void AddPromptOptions(CLI::App& app, PromptOptions& options);

// Errors: InvalidArgument (none or several sources, or an empty one), Internal (the file cannot be
// read), ResourceExhausted (more than 16 MiB). `tokens_name`: how tokens are named on the command
// line, for the text.
absl::StatusOr<Prompt> ReadPrompt(const PromptOptions& options, const std::string& tokens_name,
                                  int in_fd);

// All of a small text file, "-": standard input. Errors as above.
absl::StatusOr<std::string> ReadTextFile(const std::string& file, int in_fd);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_PROMPT_H_
