#include "tools/ctl/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "protocol/version.h"
#include "tools/ctl/commands.h"
#include "tools/version.h"

namespace superfluid::ctl {
namespace {

constexpr char kDescription[] =
    "The command line client of superfluid_worker: talks to one worker over its socket.";

constexpr char kExamples[] =
    "Examples:\n"
    "  superfluid_worker --engine pocketsphinx --listen /tmp/superfluid.sock &\n"
    "  export SUPERFLUID_SOCKET=/tmp/superfluid.sock\n"
    "  superfluidctl transcribe talk.flac\n"
    "  superfluidctl ping\n"
    "\n"
    "'superfluidctl COMMAND --help' shows the options of a command.\n"
    "\n";

// Why a text is no timeout, for the parser; empty: it is one.
std::string CheckTimeout(const std::string& text) {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(text);
  return timeout.ok() ? "" : std::string(timeout.status().message());
}

// The parser, and what it writes its values to.
class CommandLine {
 public:
  CommandLine() : app_(kDescription, "superfluidctl") {
    AddGlobalOptions();
    for (const Command& command : Commands()) {
      CLI::App* sub = app_.add_subcommand(command.name, command.summary);
      sub->fallthrough();  // global options may stand behind the command
      bodies_.push_back({sub, command.define(*sub)});
    }
    app_.require_subcommand(1);
    app_.footer(absl::StrCat(kExamples, kExitCodesHelp));
  }

  ExitCode Run(std::vector<std::string> arguments, const Console& console) {
    CommandContext context = {.global = {}, .console = console};
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      return OnParseError(error, context);
    }
    context.global = global_;
    context.global.timeout = ParseTimeout(timeout_).value_or(global_.timeout);
    for (const auto& [sub, body] : bodies_) {
      if (sub->parsed()) return body(context);
    }
    return context.Fail(UsageFailure("a command is missing"));
  }

 private:
  struct DefinedCommand {
    CLI::App* app;
    CommandBody body;
  };

  void AddGlobalOptions() {
    app_.set_version_flag("--version",
                          absl::StrCat("superfluidctl ", kSuperfluidVersion, " (Link W version ",
                                       linkw::kProtoVersion, ")"));
    app_.add_option("--connect", global_.socket_path, "The socket that the worker listens on")
        ->envname("SUPERFLUID_SOCKET");
    app_.add_option("--timeout", timeout_,
                    "How long to wait for an answer: seconds, or with a unit such as 500ms")
        ->check(CLI::Validator(CheckTimeout, ""))
        ->capture_default_str();
    app_.add_flag("--wait", global_.wait,
                  "Wait, up to the timeout, for a worker that does not listen yet");
  }

  // `--help` and `--version` come this way too.
  ExitCode OnParseError(const CLI::ParseError& error, const CommandContext& context) const {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      std::ostringstream text;
      app_.exit(error, text, text);
      return context.Print(text.str());
    }
    return context.Fail(UsageFailure(error.what()));
  }

  CLI::App app_;
  GlobalOptions global_;
  std::string timeout_ = "10";
  std::vector<DefinedCommand> bodies_;
};

}  // namespace

absl::StatusOr<absl::Duration> ParseTimeout(const std::string& text) {
  absl::Duration timeout;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds)) {
    timeout = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &timeout)) {
    return absl::InvalidArgumentError(absl::StrCat("no time: ", text));
  }
  if (std::isnan(seconds) || timeout <= absl::ZeroDuration() ||
      timeout == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("not a positive, finite time: ", text));
  }
  return timeout;
}

ExitCode RunCommandLine(const std::vector<std::string>& arguments, const Console& console) {
  return CommandLine().Run(arguments, console);
}

}  // namespace superfluid::ctl
