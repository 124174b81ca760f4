#include "engine/whisper/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/whisper/fiber_sanitizers.h"

namespace superfluid {
namespace {

// The fiber that is about to run for the first time: its entry point has no arguments.
Fiber*& Starting() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  thread_local Fiber* starting = nullptr;
  return starting;
}

size_t RoundUp(size_t bytes, size_t page) { return (bytes + page - 1) / page * page; }

}  // namespace

struct Fiber::Context {
  ~Context() {
    if (mapping != nullptr) munmap(mapping, mapping_bytes);
  }

  void* mapping = nullptr;  // the guard page, then the stack
  size_t mapping_bytes = 0;
  ucontext_t caller = {};
  ucontext_t own = {};
  FiberSanitizers sanitizers;
};

absl::StatusOr<std::unique_ptr<Fiber>> Fiber::Create(Body body, size_t stack_bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::unique_ptr<Fiber> fiber(new Fiber(std::move(body)));
  Context& context = *fiber->context_;
  const size_t bytes = RoundUp(stack_bytes, page) + page;
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr): in the macro
    return absl::ResourceExhaustedError("there is no memory for the stack of a job");
  }
  context.mapping = mapping;
  context.mapping_bytes = bytes;
  if (mprotect(mapping, page, PROT_NONE) != 0 || getcontext(&context.own) != 0) {
    return absl::ResourceExhaustedError("the stack of a job cannot be set up");
  }
  void* const bottom = static_cast<char*>(mapping) + page;
  context.own.uc_stack.ss_sp = bottom;
  context.own.uc_stack.ss_size = bytes - page;
  context.own.uc_link = nullptr;
  context.sanitizers.SetStack(bottom, bytes - page);
  makecontext(&context.own, &Fiber::Entry, 0);
  return fiber;
}

Fiber::Fiber(Body body) : body_(std::move(body)), context_(std::make_unique<Context>()) {}

Fiber::~Fiber() {
  leaving_ = true;
  if (running_) Resume();  // Yield does not switch any more, so this reaches the end
}

bool Fiber::Resume() {
  if (finished_) return true;
  if (!running_) Starting() = this;
  running_ = true;
  context_->sanitizers.BeforeEnter();
  swapcontext(&context_->caller, &context_->own);
  context_->sanitizers.AfterLeave();
  if (finished_) running_ = false;
  return finished_;
}

bool Fiber::Yield() {
  if (leaving_) return false;
  context_->sanitizers.BeforeLeave(/*for_good=*/false);
  swapcontext(&context_->own, &context_->caller);
  context_->sanitizers.AfterEnter();
  return !leaving_;
}

void Fiber::Entry() {
  Fiber* const self = std::exchange(Starting(), nullptr);
  self->context_->sanitizers.AfterEnter();
  self->Run();
  self->finished_ = true;
  self->context_->sanitizers.BeforeLeave(/*for_good=*/true);
  setcontext(&self->context_->caller);
}

void Fiber::Run() {
  try {
    body_(*this);
  } catch (const std::exception& exception) {
    error_ = absl::InternalError(absl::StrCat("the library failed: ", exception.what()));
  } catch (...) {
    error_ = absl::InternalError("the library failed with an unknown exception");
  }
  body_ = nullptr;  // what it captured goes before the stack does
}

}  // namespace superfluid
