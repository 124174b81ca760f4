#include "engine/abi/call_port.h"

#include "engine/abi/handle_table.h"

namespace superfluid {
namespace {

HandleTable<CallPort>& Ports() {
  // Never destroyed: a plug-in's stray thread may ask until the very end of the process.
  // NOLINTNEXTLINE(*-avoid-non-const-global-variables)
  static auto* const kTable = new HandleTable<CallPort>();
  return *kTable;
}

// The callbacks proper. `noexcept` because what calls them is C.

uint32_t AskCancelled(void* user) noexcept {
  try {
    const std::shared_ptr<CallPort> port = Ports().Find(user);
    return static_cast<uint32_t>(port == nullptr ? CancelReason::kRequested : port->Cancelled());
  } catch (...) {
    return static_cast<uint32_t>(CancelReason::kRequested);
  }
}

void TakeProgress(void* user) noexcept {
  try {
    const std::shared_ptr<CallPort> port = Ports().Find(user);
    if (port != nullptr) port->Progress();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a sign of life that is lost changes nothing
  }
}

}  // namespace

void CallPort::Open(const CallControl& control) {
  control_ = &control;
  gate_.Open(&control.token());
}

void CallPort::Close() {
  control_ = nullptr;
  gate_.Close();
}

void CallPort::Progress() const {
  // The thread first: the rest may be looked at by the engine's thread only.
  if (std::this_thread::get_id() != thread_ || control_ == nullptr) return;
  control_->Progress();
}

RegisteredCallPort::RegisteredCallPort()
    : port_(std::make_shared<CallPort>()), handle_(Ports().Add(port_)) {}

RegisteredCallPort::~RegisteredCallPort() { Ports().Remove(handle_); }

sfl_call RegisteredCallPort::AbiCall() const {
  return {sizeof(sfl_call), 0, handle_, &AskCancelled, &TakeProgress};
}

}  // namespace superfluid
