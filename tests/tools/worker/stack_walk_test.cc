#include "tools/worker/stack_walk.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <string>

namespace superfluid {
namespace {

Stack& Caught() {
  static Stack stack;
  return stack;
}

void Catch(int /*signal*/, siginfo_t* /*info*/, void* context) { Caught() = StackAt(context); }

// The calls of the test, each with a frame of its own.
[[gnu::noinline]] void Inner() {
  raise(SIGUSR1);
  asm volatile("");  // raise is not the last call, so that this frame stays
}
[[gnu::noinline]] void Outer() {
  Inner();
  asm volatile("");
}

// Whether an address of the stack lies in the first bytes of the function, which has no more.
bool HasCallIn(const Stack& stack, void (*function)()) {
  const auto begin = reinterpret_cast<uintptr_t>(function);
  return std::any_of(stack.pcs.begin(), stack.pcs.begin() + stack.size,
                     [begin](uintptr_t pc) { return pc > begin && pc < begin + 256; });
}

TEST(StackWalkTest, TheInterruptedCodeAndItsCallersAreThereAndTheHandlerIsNot) {
  struct sigaction before {};
  struct sigaction action {};
  action.sa_sigaction = Catch;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, &before);
  Outer();
  sigaction(SIGUSR1, &before, nullptr);
  const Stack& stack = Caught();
  ASSERT_GT(stack.size, 4u);
  EXPECT_TRUE(HasCallIn(stack, Inner));
  EXPECT_TRUE(HasCallIn(stack, Outer));
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(stack.pcs[0]), &info), 0);
  EXPECT_NE(std::string(info.dli_fname).find("libc"), std::string::npos) << info.dli_fname;
}

#if defined(__x86_64__)
sigjmp_buf& AfterTheCall() {
  static sigjmp_buf place;
  return place;
}

void CatchAndLeave(int /*signal*/, siginfo_t* /*info*/, void* context) {
  Caught() = StackAt(context);
  siglongjmp(AfterTheCall(), 1);
}

[[gnu::noinline]] void CallNothing() {
  void (*volatile nothing)() = nullptr;
  nothing();
  asm volatile("");
}

TEST(StackWalkTest, ACallOfANullFunctionLeavesItsCaller) {
  struct sigaction before {};
  struct sigaction action {};
  action.sa_sigaction = CatchAndLeave;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  if (sigsetjmp(AfterTheCall(), 1) == 0) CallNothing();
  sigaction(SIGSEGV, &before, nullptr);
  ASSERT_EQ(Caught().size, 2u);
  EXPECT_EQ(Caught().pcs[0], 0u);
  EXPECT_TRUE(HasCallIn(Caught(), CallNothing));
}
#endif

TEST(StackWalkTest, TheCallersOwnStackComesWithoutAContext) {
  EXPECT_GT(StackAt(nullptr).size, 3u);
}

}  // namespace
}  // namespace superfluid
