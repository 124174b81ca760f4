#include "tests/shm/single_step.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <ucontext.h>

namespace superfluid::testing {

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace {

constexpr greg_t kTrapFlag = 0x100;

volatile int steps = 0;
volatile int target = 0;
const std::function<void()>* interruption = nullptr;

void OnStep(int, siginfo_t*, void* context) {
  steps = steps + 1;
  if (steps != target) return;
  (*interruption)();
  // The rest of the body runs at full speed.
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

// The trap flag makes the processor stop after each instruction. Both step over the red zone, in
// which the compiler may keep variables.
inline void StartStepping() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}
inline void StopStepping() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

}  // namespace

int InterruptAtEveryInstruction(const std::function<void()>& body,
                                const std::function<void()>& action,
                                const std::function<void()>& check) {
  struct sigaction handler = {};
  handler.sa_sigaction = OnStep;
  handler.sa_flags = SA_SIGINFO;
  struct sigaction old_handler = {};
  sigaction(SIGTRAP, &handler, &old_handler);
  interruption = &action;
  int runs = 0;
  do {
    steps = 0;
    target = ++runs;
    StartStepping();
    body();
    StopStepping();
    check();
  } while (steps >= target);
  sigaction(SIGTRAP, &old_handler, nullptr);
  return runs;
}

#else

int InterruptAtEveryInstruction(const std::function<void()>& body,
                                const std::function<void()>& /*action*/,
                                const std::function<void()>& check) {
  body();
  check();
  return 0;
}

#endif

}  // namespace superfluid::testing
