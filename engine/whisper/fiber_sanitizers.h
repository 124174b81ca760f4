#ifndef SUPERFLUID_ENGINE_WHISPER_FIBER_SANITIZERS_H_
#define SUPERFLUID_ENGINE_WHISPER_FIBER_SANITIZERS_H_

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SUPERFLUID_FIBER_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define SUPERFLUID_FIBER_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(SUPERFLUID_FIBER_ASAN)
#define SUPERFLUID_FIBER_ASAN
#endif
#if defined(__SANITIZE_THREAD__) && !defined(SUPERFLUID_FIBER_TSAN)
#define SUPERFLUID_FIBER_TSAN
#endif

#ifdef SUPERFLUID_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SUPERFLUID_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace superfluid {

// Tells AddressSanitizer and ThreadSanitizer that the stack changes; without them it does nothing.
// Around every switch the side that leaves calls Before... and the side that arrives After... .
class FiberSanitizers {
 public:
#ifdef SUPERFLUID_FIBER_TSAN
  FiberSanitizers() : own_(__tsan_create_fiber(0)) {}
  ~FiberSanitizers() { __tsan_destroy_fiber(own_); }
#else
  FiberSanitizers() = default;
  ~FiberSanitizers() = default;
#endif
  FiberSanitizers(const FiberSanitizers&) = delete;
  FiberSanitizers& operator=(const FiberSanitizers&) = delete;

  void SetStack(const void* bottom, size_t bytes) {
    bottom_ = bottom;
    bytes_ = bytes;
  }

  // On the caller's stack.
  void BeforeEnter() {
#ifdef SUPERFLUID_FIBER_ASAN
    __sanitizer_start_switch_fiber(&caller_fake_stack_, bottom_, bytes_);
#endif
#ifdef SUPERFLUID_FIBER_TSAN
    caller_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(own_, 0);
#endif
  }
  void AfterLeave() {
#ifdef SUPERFLUID_FIBER_ASAN
    __sanitizer_finish_switch_fiber(caller_fake_stack_, nullptr, nullptr);
#endif
  }

  // On the fiber's stack. `for_good`: the fiber has ended.
  void BeforeLeave(bool for_good) {
    static_cast<void>(for_good);
#ifdef SUPERFLUID_FIBER_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &own_fake_stack_, caller_bottom_,
                                   caller_bytes_);
#endif
#ifdef SUPERFLUID_FIBER_TSAN
    __tsan_switch_to_fiber(caller_, 0);
#endif
  }
  void AfterEnter() {
#ifdef SUPERFLUID_FIBER_ASAN
    __sanitizer_finish_switch_fiber(own_fake_stack_, &caller_bottom_, &caller_bytes_);
#endif
  }

 private:
  [[maybe_unused]] const void* bottom_ = nullptr;
  [[maybe_unused]] size_t bytes_ = 0;
#ifdef SUPERFLUID_FIBER_ASAN
  void* caller_fake_stack_ = nullptr;
  void* own_fake_stack_ = nullptr;
  const void* caller_bottom_ = nullptr;
  size_t caller_bytes_ = 0;
#endif
#ifdef SUPERFLUID_FIBER_TSAN
  void* own_ = nullptr;
  void* caller_ = nullptr;
#endif
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_FIBER_SANITIZERS_H_
