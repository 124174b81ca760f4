#include "tools/worker/stack_walk.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(StackWalkTest, TheCallersOwnStackComesWithoutAContext) {
  EXPECT_GT(StackAt(nullptr).size, 3u);
}

}  // namespace
}  // namespace superfluid
