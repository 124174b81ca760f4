#include "tests/tools/ctl/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace superfluid::ctl {
namespace {

// Relative to where Bazel starts a test.
constexpr char kBinary[] = "tools/ctl/superfluidctl";

struct Ends {
  OwnedFd ours;
  OwnedFd theirs;
};

Ends MakePipe(bool we_read) {
  std::array<int, 2> fds = {-1, -1};
  EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
  Ends ends;
  ends.ours.Reset(fds[we_read ? 0 : 1]);
  ends.theirs.Reset(fds[we_read ? 1 : 0]);
  return ends;
}

Ends MakeTerminal() {
  int ours = -1;
  int theirs = -1;
  const winsize size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(openpty(&ours, &theirs, nullptr, nullptr, &size), 0);
  fcntl(ours, F_SETFD, FD_CLOEXEC);
  fcntl(theirs, F_SETFD, FD_CLOEXEC);
  Ends ends;
  ends.ours.Reset(ours);
  ends.theirs.Reset(theirs);
  return ends;
}

std::string ReadToTheEnd(int fd) {
  std::string all;
  std::array<char, 4096> buffer = {};
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;  // a terminal whose other end is closed gives EIO
    all.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, Options options) {
  Ends in = MakePipe(/*we_read=*/false);
  Ends out = MakePipe(/*we_read=*/true);
  if (options.terminal_as_console) {
    out = MakeTerminal();
    in.ours.Reset(fcntl(out.ours.get(), F_DUPFD_CLOEXEC, 0));
    in.theirs.Reset(fcntl(out.theirs.get(), F_DUPFD_CLOEXEC, 0));
  }
  Ends err = options.terminal_as_stderr ? MakeTerminal() : MakePipe(/*we_read=*/true);
  std::vector<std::string> words = {kBinary};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in.theirs.get(), STDIN_FILENO);
    dup2(out.theirs.get(), STDOUT_FILENO);
    dup2(err.theirs.get(), STDERR_FILENO);
    if (options.closed_stdout) close(STDOUT_FILENO);
    if (options.prepare && !options.prepare()) _exit(kNotPrepared);
    execv(kBinary, argv.data());
    _exit(127);
  }
  in_ = std::move(in.ours);
  out_ = std::move(out.ours);
  err_ = std::move(err.ours);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  Wait();
}

std::string ChildProcess::ReadLine() {
  std::string line;
  char c = 0;
  while (read(out_.get(), &c, 1) == 1) {
    line.push_back(c);
    if (c == '\n') break;
  }
  return line;
}

std::string ChildProcess::ReadRestOfOutput() { return ReadToTheEnd(out_.get()); }

std::string ChildProcess::ReadUntil(const std::string& text) {
  std::string all;
  char c = 0;
  while (all.find(text) == std::string::npos && read(out_.get(), &c, 1) == 1) all.push_back(c);
  return all;
}

bool ChildProcess::TerminalIsUsual() const {
  termios mode = {};
  EXPECT_EQ(tcgetattr(out_.get(), &mode), 0);
  return (mode.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
}

void ChildProcess::AwaitError(const std::string& text) {
  std::string all;
  char c = 0;
  while (all.find(text) == std::string::npos && read(err_.get(), &c, 1) == 1) all.push_back(c);
}

std::string ChildProcess::ReadErrors() { return ReadToTheEnd(err_.get()); }

void ChildProcess::WriteInput(const std::string& bytes) {
  ASSERT_EQ(write(in_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

void ChildProcess::Resize(unsigned short rows, unsigned short columns) {
  const winsize size = {.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(ioctl(out_.get(), TIOCSWINSZ, &size), 0);
}

void ChildProcess::Signal(int signal_number) { kill(pid_, signal_number); }

int ChildProcess::Wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace superfluid::ctl
