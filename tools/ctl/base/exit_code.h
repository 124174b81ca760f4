#ifndef SUPERFLUID_TOOLS_CTL_BASE_EXIT_CODE_H_
#define SUPERFLUID_TOOLS_CTL_BASE_EXIT_CODE_H_

namespace superfluid::ctl {

// What superfluidctl ends with. Scripts rely on the numbers; `--help` documents them.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,          // the worker refused or failed the request, or a local file failed
  kUsage = 2,           // the command line is wrong
  kNoLink = 3,          // no worker to connect to or none that answers HELLO, or the link was lost
  kDeadline = 4,        // the deadline or the timeout passed, once connected
  kCancelled = 5,       // --cancel-after took effect
  kHungUp = 129,        // SIGHUP
  kInterrupted = 130,   // SIGINT
  kQuit = 131,          // SIGQUIT
  kOutputClosed = 141,  // whoever read our output is gone; what a SIGPIPE would have given
  kTerminated = 143,    // SIGTERM
};

// The text of `--help` about them.
inline constexpr char kExitCodesHelp[] =
    "Exit codes:\n"
    "  0    done\n"
    "  1    the worker refused or failed the request (its status is printed), or a local file\n"
    "       could not be read or written\n"
    "  2    the command line is wrong\n"
    "  3    no worker to connect to (also one that does not answer while connecting), or the link\n"
    "       to it was lost\n"
    "  4    once connected: the deadline passed, or no answer came within the timeout\n"
    "  5    cancelled by --cancel-after\n"
    "  130  interrupted (Ctrl-C), 143 terminated, 129 hung up (the terminal went away),\n"
    "       131 quit (Ctrl-\\), 141 the reader of the output went away\n";

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_EXIT_CODE_H_
