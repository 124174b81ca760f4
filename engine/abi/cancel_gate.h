#ifndef SUPERFLUID_ENGINE_ABI_CANCEL_GATE_H_
#define SUPERFLUID_ENGINE_ABI_CANCEL_GATE_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/cancel_token.h"

namespace superfluid {

// A cancel token as a plug-in may ask for it, from any thread, also when it should not: outside of
// a call the answer is kRequested, since whoever still asks should stop.
//
// Threads: Open and Close the engine's; Reason any.
class CancelGate {
 public:
  // For one call into the plug-in; a null `token` is never cancelled. It must stay valid until
  // Close, which waits for a Reason in progress.
  void Open(const CancelToken* token);
  void Close();

  CancelReason Reason() const;
  bool open() const;
  // Whether there was a Reason since the last Open.
  bool asked() const;

 private:
  mutable std::mutex mutex_;
  bool open_ = false;
  mutable bool asked_ = false;  // of the open or last call
  const CancelToken* token_ = nullptr;
};

// A gate that a plug-in knows by a handle (see HandleTable) for as long as this object lives.
class RegisteredGate {
 public:
  RegisteredGate();
  RegisteredGate(const RegisteredGate&) = delete;
  RegisteredGate& operator=(const RegisteredGate&) = delete;
  ~RegisteredGate();

  CancelGate& gate() { return *gate_; }

  // What to hand to the plug-in: the callback and its `user`.
  void* user() const { return handle_; }
  static uint32_t Cancelled(void* user) noexcept;

 private:
  std::shared_ptr<CancelGate> gate_;
  void* handle_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_CANCEL_GATE_H_
