#ifndef SUPERFLUID_ENGINE_WHISPER_FIBER_H_
#define SUPERFLUID_ENGINE_WHISPER_FIBER_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace superfluid {

// A function that can stop in the middle and go on later, on a stack of its own: so that a library
// call that takes seconds, and asks a callback now and then whether to go on, becomes steps.
//
//   Resume() -> body runs -> Yield() -> Resume() returns false ... -> body ends -> returns true
//
// Everything runs on the thread that calls Resume; nothing runs at the same time. What the body
// throws ends it and becomes error(). Yield must not be called inside a catch block.
//
// Threads: one; the one that resumes it first. Lifetime: destroying a fiber that is in the middle
// makes Yield return false and runs the body to its end, so a body must take that as its sign to
// leave soon.
class Fiber {
 public:
  using Body = std::function<void(Fiber&)>;

  // As large as a thread's; memory is taken only for the part that is used.
  static constexpr size_t kDefaultStackBytes = size_t{8} << 20;

  // Errors: ResourceExhausted when there is no memory for the stack. Below the stack lies a page
  // that nobody may touch, so that an overflow ends the process instead of corrupting it.
  static absl::StatusOr<std::unique_ptr<Fiber>> Create(Body body,
                                                       size_t stack_bytes = kDefaultStackBytes);

  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it yields or ends. Returns whether it ended; must not be called after that,
  // nor by the body.
  bool Resume();

  // For the body only: returns to the caller of Resume until the next Resume. Returns false if the
  // body is to end, at once and without switching if asked again.
  bool Yield();

  bool finished() const { return finished_; }

  // Internal if the body threw an exception, with its text.
  const absl::Status& error() const { return error_; }

 private:
  struct Context;
  explicit Fiber(Body body);

  static void Entry();
  void Run();

  Body body_;
  std::unique_ptr<Context> context_;
  bool finished_ = false;
  bool running_ = false;
  bool leaving_ = false;
  absl::Status error_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_FIBER_H_
