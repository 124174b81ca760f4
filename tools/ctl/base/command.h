#ifndef SUPERFLUID_TOOLS_CTL_BASE_COMMAND_H_
#define SUPERFLUID_TOOLS_CTL_BASE_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/base/exit_code.h"
#include "tools/ctl/base/failure.h"
#include "tools/ctl/base/output.h"

namespace superfluid::ctl {

// Options that stand before any command.
struct GlobalOptions {
  std::string socket_path;
  absl::Duration timeout = absl::Seconds(10);
  bool wait = false;  // until a worker takes us, up to the timeout
  // With `wait`: told how far a worker is that still loads its engine, and is waited for as long as
  // it does; and when that is over, one way or the other. May be null.
  std::function<void(const linkw::Pong&)> on_loading;
  std::function<void()> on_loading_over;
};

// Where a command reads and writes. All must outlive it.
struct Console {
  Output* out = nullptr;       // what was asked for
  Output* err = nullptr;       // everything else
  Output* terminal = nullptr;  // for a progress bar; null: no bar
  int in_fd = -1;
};

struct CommandContext {
  GlobalOptions global;
  Console console;

  // Prints the failure's line and returns its code.
  ExitCode Fail(const Failure& failure) const;
  // Writes to `out`; kOutputClosed or kFailed if that does not work.
  ExitCode Print(const std::string& text) const;
};

// What a command does once the command line was read. May block.
using CommandBody = std::function<ExitCode(const CommandContext&)>;

// A command of superfluidctl. To add one: a file with a Define function, and a row in commands.cc.
struct Command {
  const char* name;
  const char* summary;
  // Adds the command's options to `app`. The body that it returns reads their values.
  CommandBody (*define)(CLI::App& app);
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_COMMAND_H_
