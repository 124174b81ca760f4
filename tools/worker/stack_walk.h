#ifndef SUPERFLUID_TOOLS_WORKER_STACK_WALK_H_
#define SUPERFLUID_TOOLS_WORKER_STACK_WALK_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace superfluid {

// The places in a thread's stack, the innermost first: where it was interrupted, then the calls
// that led there (an address inside each call, as a symbolizer wants it).
struct Stack {
  std::array<uintptr_t, 64> pcs{};
  size_t size = 0;
};

// Returns the stack of the calling thread by the unwind tables of its libraries, which need no
// frame pointers. `context` is what a signal handler is given, and the stack is that of the
// interrupted code; or null, for the caller's own.
//
// The first call may load a library; after that a signal handler may call it.
Stack StackAt(const void* context);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_STACK_WALK_H_
