#include "tools/worker/crash_report.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "absl/debugging/symbolize.h"
#include "tools/worker/log_line.h"
#include "tools/worker/stack_walk.h"
#include "tools/worker/worker_log.h"

namespace superfluid {
namespace {

constexpr std::array kFatalSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
constexpr unsigned kReportSeconds = 3;
constexpr int kSettleMs = 500;  // for lines that were logged before
constexpr int kWriteMs = 1000;  // for the report itself
constexpr size_t kSignalStackBytes = size_t{256} << 10;

// What the report knows of the engine. Written before requests come; read by signal handlers.
struct EngineFacts {
  std::atomic<pthread_t> thread{};  // 0 until it is known: no thread has that id on Linux
  std::array<char, 256> name{};
  std::atomic<const EngineProgress*> progress{nullptr};
};

EngineFacts& Facts() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static EngineFacts facts;
  return facts;
}

int64_t NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

const char* NameOf(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? "?" : name;
}

// What handlers print with: the log's descriptor, for as long as the deadline lets it wait.
class ReportOutput {
 public:
  void Write(std::string_view text) {
    while (!text.empty()) {
      pollfd room = {.fd = fd_, .events = POLLOUT, .revents = 0};
      const auto left = static_cast<int>(std::max<int64_t>(deadline_ms_ - NowMs(), 0));
      if (poll(&room, 1, left) <= 0) return;
      const ssize_t written = write(fd_, text.data(), text.size());
      if (written <= 0 && errno != EINTR && errno != EAGAIN) return;
      if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    }
  }

 private:
  const int fd_ = LogDescriptor();
  const int64_t deadline_ms_ = NowMs() + kWriteMs;
};

// Lets the threads of the log write what was logged before.
void LetLogSettle() {
  for (int waited = 0; waited < kSettleMs && !LogIsIdle(); waited += 5) (void)poll(nullptr, 0, 5);
}

bool OnEngineThread() { return pthread_equal(Facts().thread.load(), pthread_self()) != 0; }

void AddRequest(LogLine& line) {
  const EngineProgress* const progress = Facts().progress.load(std::memory_order_acquire);
  if (progress == nullptr || progress->request().link == LinkId{}) return;
  line.Number("link", static_cast<int64_t>(progress->request().link));
  line.Number("seq", static_cast<int64_t>(progress->request().seq));
}

void ReportSignal(ReportOutput& output, int signal, const siginfo_t* info) {
  std::array<char, 16> thread{};
  prctl(PR_GET_NAME, thread.data());
  LogLine line("error", "crash.signal");
  std::array<char, 16> name = {"SIG"};
  std::strncat(name.data(), NameOf(signal), name.size() - 4);
  line.Text("signal", name.data());
  if (signal == SIGSEGV || signal == SIGBUS) {
    line.Hex("address", reinterpret_cast<uintptr_t>(info->si_addr));
  }
  if (signal == SIGBUS) {
    line.Text(
        "reason",
        "a file that is mapped into memory was cut short or cannot be read: is the model's file "
        "being written over?");
  }
  line.Text("thread", OnEngineThread() ? "engine" : thread.data());
  line.Text("engine", Facts().name.data());
  if (OnEngineThread()) AddRequest(line);
  output.Write(line.Number("pid", getpid()).End(TheLogStyle()));
}

void ReportFrame(ReportOutput& output, int64_t number, uintptr_t pc) {
  LogLine line("error", "crash.frame");
  line.Number("n", number).Hex("pc", pc);
  Dl_info info{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is looked up
  const void* const address = reinterpret_cast<const void*>(pc);
  const bool known = dladdr(address, &info) != 0;
  if (known) {
    line.Text("module", info.dli_fname);
    line.Hex("offset", pc - reinterpret_cast<uintptr_t>(info.dli_fbase));
  }
  std::array<char, 512> symbol{};
  if (absl::Symbolize(address, symbol.data(), static_cast<int>(symbol.size()))) {
    line.Text("symbol", symbol.data());
  } else if (known && info.dli_sname != nullptr) {
    line.Text("symbol", info.dli_sname);
  }
  output.Write(line.End(TheLogStyle()));
}

// Ends the process as the signal does that nobody handles.
void EndBy(int signal) {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

void OnReportOverdue(int /*signal*/) { EndBy(SIGABRT); }

// Ends the process soon, whatever the report may hang in. The alarm may have been in use: the end
// of a process sets one.
void EndWhenOverdue() {
  struct sigaction overdue {};
  overdue.sa_handler = OnReportOverdue;
  sigaction(SIGALRM, &overdue, nullptr);
  alarm(kReportSeconds);
}

void OnFatalSignal(int signal, siginfo_t* info, void* context) {
  static std::atomic<bool> reporting{false};
  if (reporting.exchange(true)) {
    // Another thread reports, and ends the process; or this one, and faulted once more.
    (void)poll(nullptr, 0, static_cast<int>(kReportSeconds) * 1000);
    return EndBy(signal);
  }
  EndWhenOverdue();
  LetLogSettle();
  ReportOutput output;
  ReportSignal(output, signal, info);
  const Stack stack = StackAt(context);
  for (size_t i = 0; i < stack.size; ++i) {
    ReportFrame(output, static_cast<int64_t>(i), stack.pcs[i]);
  }
  EndBy(signal);
}

// Gives the calling thread a stack for its signal handlers: its own may have overflowed. Kept until
// the process ends.
void UseSignalStack() {
  void* const memory = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = kSignalStackBytes};
  sigaltstack(&stack, nullptr);
}

}  // namespace

void InstallCrashReport(const char* argv0) {
  absl::InitializeSymbolizer(argv0);
  (void)StackAt(nullptr);  // loads what unwinding needs
  UseSignalStack();
  struct sigaction fatal {};
  fatal.sa_sigaction = OnFatalSignal;
  fatal.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kFatalSignals) sigaction(signal, &fatal, nullptr);
}

void NoteEngineThread(std::string_view engine) {
  EngineFacts& facts = Facts();
  engine.copy(facts.name.data(), facts.name.size() - 1);
  UseSignalStack();
  facts.thread.store(pthread_self());
}

void NoteEngineProgress(std::shared_ptr<const EngineProgress> progress) {
  // Kept for the rest of the process: handlers read it until then.
  static const std::shared_ptr<const EngineProgress> kept = std::move(progress);
  Facts().progress.store(kept.get(), std::memory_order_release);
}

void ReportStuckEngineAndAbort(absl::Duration step_age) {
  LogLine line("error", "engine.stuck");
  line.Number("step_age_ms", absl::ToInt64Milliseconds(step_age));
  line.Text("engine", Facts().name.data());
  AddRequest(line);
  line.Text("reason",
            "the engine is stuck: one call into it has not returned within --engine-kill-ms, and "
            "the accelerator cannot be freed otherwise; the process ends");
  LogPlainly(line.End(TheLogStyle()));
  if (const pthread_t thread = Facts().thread.load(); thread != 0) {
    pthread_kill(thread, SIGABRT);
    // The handler ends the process; if the thread cannot even run it, this one does.
    (void)poll(nullptr, 0, static_cast<int>(kReportSeconds) * 1000 + 500);
  }
  std::abort();
}

}  // namespace superfluid
