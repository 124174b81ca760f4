#include "tools/ctl/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "protocol/messages/version.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/commands/commands.h"
#include "tools/ctl/terminal/loading_line.h"
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
    LoadingLine loading(console.terminal, console.err);
    context.global.on_loading = [&loading](const linkw::Pong& pong) { loading.Show(pong); };
    context.global.on_loading_over = [&loading] { loading.Clear(); };
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
        ->type_name("TIME")
        ->check(CLI::Validator(CheckTimeout, ""))
        ->capture_default_str();
    app_.add_flag(
        "--wait", global_.wait,
        "Wait, up to the timeout, for a worker that does not listen yet, drains or has no room, or "
        "until another client has ended that drives it; for one that still loads its engine, as "
        "long "
        "as it does");
  }

  // `--help` and `--version` come this way too.
  ExitCode OnParseError(const CLI::ParseError& error, const CommandContext& context) const {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      std::ostringstream text;
      app_.exit(error, text, text);
      return context.Print(text.str());
    }
    return context.Fail(UsageFailure(absl::StrCat(WhatIsWrong(error), DashAdvice())));
  }

  // The parser's words, except where it only says that something is missing.
  std::string WhatIsWrong(const CLI::ParseError& error) const {
    if (!app_.get_subcommands().empty()) return error.what();
    const std::vector<std::string> unknown = app_.remaining();
    if (unknown.empty()) {
      if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::RequiredError)) {
        return error.what();
      }
      return absl::StrCat("a command is missing: ", CommandNames());
    }
    const char* kind = IsDashed(unknown.front()) ? "option" : "command";
    return absl::StrCat("unknown ", kind, " '", unknown.front(), "'; the commands are ",
                        CommandNames());
  }

  // For a file whose name begins with a dash.
  std::string DashAdvice() const {
    if (app_.get_subcommands().empty()) return "";
    for (const std::string& unknown : app_.remaining(/*recurse=*/true)) {
      if (IsDashed(unknown) && !absl::StartsWith(unknown, "--")) {
        return absl::StrCat("; unknown option '", unknown, "' (a file of that name is ./", unknown,
                            ")");
      }
    }
    return "";
  }

  static bool IsDashed(const std::string& argument) {
    return argument.size() > 1 && argument.front() == '-';
  }

  static std::string CommandNames() {
    std::string names;
    for (const Command& command : Commands()) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", command.name);
    }
    return names;
  }

  CLI::App app_;
  GlobalOptions global_;
  std::string timeout_ = "10";
  std::vector<DefinedCommand> bodies_;
};

}  // namespace

absl::StatusOr<absl::Duration> ParseTimeout(const std::string& text) {
  absl::StatusOr<absl::Duration> timeout = ParseTime(text, absl::Seconds(1));
  if (timeout.ok() && *timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not above 0"));
  }
  return timeout;
}

ExitCode RunCommandLine(const std::vector<std::string>& arguments, const Console& console) {
  return CommandLine().Run(arguments, console);
}

}  // namespace superfluid::ctl
