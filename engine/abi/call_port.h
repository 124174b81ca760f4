#ifndef SUPERFLUID_ENGINE_ABI_CALL_PORT_H_
#define SUPERFLUID_ENGINE_ABI_CALL_PORT_H_

#include <memory>
#include <thread>

#include "engine/abi/cancel_gate.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/call_control.h"

namespace superfluid {

// The host's side of a call that may take long, as a plug-in can reach it: cancel state, and signs
// of life. It answers only while such a call is open, and expects anything.
//
// Threads: `Cancelled` any thread; the rest the thread that made the port. Progress checks that.
class CallPort {
 public:
  CallPort() : thread_(std::this_thread::get_id()) {}

  // Opens the port for one call. `control` must stay valid until Close, which waits for a Cancelled
  // in progress.
  void Open(const CallControl& control);
  void Close();

  // kRequested if no call is open.
  CancelReason Cancelled() const { return gate_.Reason(); }

  // Passes a sign of life on; ignored on a foreign thread and outside of a call.
  void Progress() const;

 private:
  const std::thread::id thread_;
  CancelGate gate_;
  const CallControl* control_ = nullptr;
};

// A port known to the plug-in by a handle, for as long as this object lives (see HandleTable).
class RegisteredCallPort {
 public:
  RegisteredCallPort();
  RegisteredCallPort(const RegisteredCallPort&) = delete;
  RegisteredCallPort& operator=(const RegisteredCallPort&) = delete;
  ~RegisteredCallPort();

  CallPort& port() { return *port_; }

  // Returns what to hand to the plug-in.
  sfl_call AbiCall() const;

 private:
  std::shared_ptr<CallPort> port_;
  void* handle_;
};

// Keeps the port open for one call, and closes it on every way out.
class OpenCall {
 public:
  OpenCall(RegisteredCallPort& registered, const CallControl& control)
      : port_(registered.port()), abi_(registered.AbiCall()) {
    port_.Open(control);
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall() { port_.Close(); }

  const sfl_call* abi() const { return &abi_; }

 private:
  CallPort& port_;
  const sfl_call abi_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_CALL_PORT_H_
