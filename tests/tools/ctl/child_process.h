#ifndef SUPERFLUID_TESTS_TOOLS_CTL_CHILD_PROCESS_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "shm/owned_fd.h"

namespace superfluid::ctl {

// superfluidctl as a process, with its standard streams in our hands. Threads: one.
class ChildProcess {
 public:
  struct Options {
    bool terminal_as_stderr = false;  // a pseudo terminal, 80 columns wide
    // One for standard input and output: WriteInput presses keys.
    bool terminal_as_console = false;
    bool closed_stdout = false;  // no descriptor at all
    // Runs in the child just before the program, which does not run if it returns false (exit code
    // ChildProcess::kNotPrepared). May only call what is async-signal-safe.
    std::function<bool()> prepare = nullptr;
  };

  static constexpr int kNotPrepared = 125;

  explicit ChildProcess(const std::vector<std::string>& arguments)
      : ChildProcess(arguments, Options()) {}
  ChildProcess(const std::vector<std::string>& arguments, Options options);
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // A line of its standard output with its line break, as soon as it is there.
  std::string ReadLine();
  std::string ReadRestOfOutput();
  // Reads its standard output until `text` has come; returns all that was read.
  std::string ReadUntil(const std::string& text);
  std::string ReadErrors();  // all, so it waits for the end
  // Reads its standard error until `text` has come.
  void AwaitError(const std::string& text);

  void WriteInput(const std::string& bytes);
  void CloseInput() { in_.Reset(); }
  void CloseOutput() { out_.Reset(); }

  void Signal(int signal_number);
  // Gives the console's terminal another size.
  void Resize(unsigned short rows, unsigned short columns);
  // Whether the terminal echoes and waits for whole lines, as it does for a shell.
  bool TerminalIsUsual() const;

  // Waits for the end. The exit code, or minus the number of the signal that killed it.
  int Wait();

 private:
  pid_t pid_ = -1;
  OwnedFd in_;
  OwnedFd out_;
  OwnedFd err_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_CHILD_PROCESS_H_
