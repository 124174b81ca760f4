#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "tools/ctl/command_line.h"

namespace {

// Were a standard descriptor closed, the next file or socket would get its number, and what is
// printed would go there. In its place comes one that fails as a closed one does.
void HoldStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) open("/", O_PATH | O_CLOEXEC);  // gets the lowest number: fd
  }
}

}  // namespace

int main(int argc, char** argv) {
  HoldStandardDescriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a write tells us as well, and then the worker is told to stop
  superfluid::ctl::FdOutput out(STDOUT_FILENO);
  superfluid::ctl::FdOutput err(STDERR_FILENO);
  const bool terminal = superfluid::ctl::CanRedraw(STDERR_FILENO);
  const superfluid::ctl::Console console = {
      .out = &out, .err = &err, .terminal = terminal ? &err : nullptr, .in_fd = STDIN_FILENO};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(superfluid::ctl::RunCommandLine(arguments, console));
}
