#ifndef SUPERFLUID_ENGINE_CANCEL_TOKEN_H_
#define SUPERFLUID_ENGINE_CANCEL_TOKEN_H_

#include <atomic>
#include <concepts>
#include <cstdint>

namespace superfluid {

// Why a piece of work is to stop.
enum class CancelReason : uint8_t {
  kNone = 0,
  kRequested = 1,   // the daemon asked for it
  kDeadline = 2,    // the request's deadline passed
  kLinkClosed = 3,  // the daemon is gone; nobody waits for the answer
  kDraining = 4,    // the worker is shutting down
  kTooLong = 5,     // the answer would no longer fit into one message
};

// The one flag that a request's owner sets and the engine reads between (and, where a library
// allows it, inside) micro-steps. Actors share it: a cancel
// must not wait in a mailbox behind the very step that it wants to stop.
//
// Threads: any thread may call any method. The first Cancel wins; later ones change nothing.
// Lifetime: shared by the request's owner and its job, through std::shared_ptr.
class CancelToken {
 public:
  // How a plug-in sees its host's token: asked for the reason each time, from any thread.
  using Poll = CancelReason (*)(void* context) noexcept;

  CancelToken() = default;
  // A token that is cancelled if it was cancelled itself or `poll(context)` says so. Both must
  // outlive the token.
  CancelToken(Poll poll, void* context) noexcept : poll_(poll), poll_context_(context) {}
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;

  // Asks the work to stop. Returns true if this call was the first to do so. `clock` is called, by
  // the first caller only, for the caller's monotonic time in nanoseconds: after the token is set,
  // so that work that began later than cancelled_at_ns() began in spite of a visible cancel.
  template <std::invocable Clock>
  bool Cancel(CancelReason reason, Clock clock) noexcept {
    CancelReason none = CancelReason::kNone;
    if (!reason_.compare_exchange_strong(none, reason, std::memory_order_seq_cst)) return false;
    cancelled_at_ns_.store(clock(), std::memory_order_release);
    return true;
  }
  // The same with a time that is known already.
  bool Cancel(CancelReason reason, int64_t now_ns) noexcept {
    return Cancel(reason, [now_ns] { return now_ns; });
  }

  bool cancelled() const noexcept { return reason() != CancelReason::kNone; }

  CancelReason reason() const noexcept {
    const CancelReason own = reason_.load(std::memory_order_seq_cst);
    return own == CancelReason::kNone && poll_ != nullptr ? poll_(poll_context_) : own;
  }

  // The time of the winning Cancel; 0 if there was none, or for the few instructions in which
  // the winner has not stored it yet.
  int64_t cancelled_at_ns() const noexcept {
    return cancelled_at_ns_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<CancelReason> reason_{CancelReason::kNone};
  std::atomic<int64_t> cancelled_at_ns_{0};
  const Poll poll_ = nullptr;
  void* const poll_context_ = nullptr;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CANCEL_TOKEN_H_
