#include "tools/ctl/generation/prompt.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/file_bytes.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kMaxFileBytes = size_t{16} << 20;
constexpr char kGroup[] = "Prompt";

std::vector<linkw::Token> BytesAsTokens(std::string_view text) {
  std::vector<linkw::Token> tokens;
  tokens.reserve(text.size());
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

}  // namespace

void AddPromptOptions(CLI::App& app, PromptOptions& options) {
  CLI::Option* text =
      app.add_option("--text", options.text,
                     "Text, each byte a token: for engines with a vocabulary of bytes")
          ->group(kGroup);
  app.add_option("--file", options.file, "The same from a file; - for standard input")
      ->excludes(text)
      ->group(kGroup);
}

absl::StatusOr<Prompt> ReadPrompt(const PromptOptions& options, const std::string& tokens_name,
                                  int in_fd) {
  const int sources = (options.tokens.empty() ? 0 : 1) + (options.text.has_value() ? 1 : 0) +
                      (options.file.empty() ? 0 : 1);
  if (sources != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(sources == 0 ? "there is no prompt" : "there are several prompts", ": give ",
                     tokens_name, ", --text or --file"));
  }
  if (!options.tokens.empty()) return Prompt{.tokens = options.tokens, .is_text = false};
  std::string text;
  if (options.text.has_value()) {
    text = *options.text;
  } else {
    absl::StatusOr<std::string> file = ReadTextFile(options.file, in_fd);
    if (!file.ok()) return file.status();
    text = *std::move(file);
  }
  if (text.empty()) return absl::InvalidArgumentError("the prompt is empty");
  return Prompt{.tokens = BytesAsTokens(text), .is_text = true};
}

absl::StatusOr<std::string> ReadTextFile(const std::string& file, int in_fd) {
  const absl::StatusOr<OwnedFd> fd = OpenInput(file, in_fd);
  if (!fd.ok()) return fd.status();
  std::string text;
  std::array<char, 65536> buffer = {};
  while (true) {
    const ssize_t got = read(fd->get(), buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return absl::InternalError(
          absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", file)).message());
    }
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMaxFileBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(file, " has more than the ", kMaxFileBytes, " bytes that are read of one"));
    }
  }
}

}  // namespace superfluid::ctl
