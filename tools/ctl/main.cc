#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "tools/ctl/command_line.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a write tells us as well, and then the worker is told to stop
  superfluid::ctl::FdOutput out(STDOUT_FILENO);
  superfluid::ctl::FdOutput err(STDERR_FILENO);
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const superfluid::ctl::Console console = {
      .out = &out, .err = &err, .terminal = terminal ? &err : nullptr, .in_fd = STDIN_FILENO};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(superfluid::ctl::RunCommandLine(arguments, console));
}
