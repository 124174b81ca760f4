#include "engine/abi/cancel_gate.h"

#include "engine/abi/handle_table.h"

namespace superfluid {
namespace {

HandleTable<CancelGate>& Gates() {
  // Never destroyed: a plug-in's stray thread may ask until the very end of the process.
  // NOLINTNEXTLINE(*-avoid-non-const-global-variables)
  static auto* const kTable = new HandleTable<CancelGate>();
  return *kTable;
}

}  // namespace

void CancelGate::Open(const CancelToken* token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = true;
  asked_ = false;
  token_ = token;
}

void CancelGate::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = false;
  token_ = nullptr;
}

CancelReason CancelGate::Reason() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  asked_ = true;
  if (!open_) return CancelReason::kRequested;
  return token_ == nullptr ? CancelReason::kNone : token_->reason();
}

bool CancelGate::asked() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return asked_;
}

bool CancelGate::open() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_;
}

RegisteredGate::RegisteredGate()
    : gate_(std::make_shared<CancelGate>()), handle_(Gates().Add(gate_)) {}

RegisteredGate::~RegisteredGate() { Gates().Remove(handle_); }

uint32_t RegisteredGate::Cancelled(void* user) noexcept {
  try {
    const std::shared_ptr<CancelGate> gate = Gates().Find(user);
    return static_cast<uint32_t>(gate == nullptr ? CancelReason::kRequested : gate->Reason());
  } catch (...) {
    return static_cast<uint32_t>(CancelReason::kRequested);
  }
}

}  // namespace superfluid
