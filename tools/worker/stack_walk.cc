#include "tools/worker/stack_walk.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>

namespace superfluid {
namespace {

// Where the code was interrupted, and the top of its stack; 0 where this processor is not known.
struct Interrupted {
  uintptr_t pc = 0;
  uintptr_t top = 0;
};

Interrupted InterruptedAt(const void* context) {
  if (context == nullptr) return {};
  const auto* const user = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return {.pc = static_cast<uintptr_t>(user->uc_mcontext.gregs[REG_RIP]),
          .top = static_cast<uintptr_t>(user->uc_mcontext.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {.pc = user->uc_mcontext.pc, .top = 0};
#else
  return {};
#endif
}

_Unwind_Reason_Code OnFrame(_Unwind_Context* context, void* user) {
  Stack& stack = *static_cast<Stack*>(user);
  if (stack.size == stack.pcs.size()) return _URC_END_OF_STACK;
  int is_exact = 0;  // not the address behind a call
  const uintptr_t ip = _Unwind_GetIPInfo(context, &is_exact);
  stack.pcs[stack.size++] = is_exact != 0 || ip == 0 ? ip : ip - 1;
  return _URC_NO_REASON;
}

bool IsCode(uintptr_t pc) {
  Dl_info info{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is looked up
  return dladdr(reinterpret_cast<const void*>(pc), &info) != 0;
}

// A call of what is no code (a null function) left the caller's address on top of the stack, and no
// unwind table knows more.
void AddCaller(const Interrupted& at, Stack& stack) {
  if (at.top == 0 || IsCode(at.pc) || stack.size == stack.pcs.size()) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the call has just written there
  const uintptr_t caller = *reinterpret_cast<const uintptr_t*>(at.top);
  if (IsCode(caller)) stack.pcs[stack.size++] = caller - 1;
}

}  // namespace

Stack StackAt(const void* context) {
  Stack all;
  _Unwind_Backtrace(OnFrame, &all);
  const Interrupted at = InterruptedAt(context);
  if (at.pc == 0 && at.top == 0) return all;
  // The innermost frames are the handler's; if the interrupted one is not found, all are.
  auto* const end = all.pcs.begin() + all.size;
  auto* const first = std::find(all.pcs.begin(), end, at.pc);
  Stack stack;
  stack.pcs[stack.size++] = at.pc;
  if (first != end) {
    std::copy(first + 1, end, stack.pcs.begin() + 1);
    stack.size = static_cast<size_t>(end - first);
  }
  // Some stacks end with a frame of no code.
  while (stack.size > 1 && stack.pcs[stack.size - 1] == 0) --stack.size;
  if (stack.size == 1) AddCaller(at, stack);
  return stack;
}

}  // namespace superfluid
