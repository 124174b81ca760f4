#include "engine/abi/tick_port.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/abi/handle_table.h"
#include "engine/abi/status_codes.h"

namespace superfluid {
namespace {

HandleTable<TickPort>& Ports() {
  // Never destroyed: a plug-in's stray thread may ask until the very end of the process.
  // NOLINTNEXTLINE(*-avoid-non-const-global-variables)
  static auto* const kTable = new HandleTable<TickPort>();
  return *kTable;
}

// The callbacks proper. `noexcept` because what calls them is C.

uint32_t AskCancelled(void* user) noexcept {
  try {
    const std::shared_ptr<TickPort> port = Ports().Find(user);
    return static_cast<uint32_t>(port == nullptr ? CancelReason::kRequested : port->Cancelled());
  } catch (...) {
    return static_cast<uint32_t>(CancelReason::kRequested);
  }
}

uint32_t AskLaneStopped(void* user, size_t lane) noexcept {
  try {
    const std::shared_ptr<TickPort> port = Ports().Find(user);
    return port == nullptr || port->LaneStopped(lane) ? 1 : 0;
  } catch (...) {
    return 1;
  }
}

sfl_status EmitTokens(void* user, size_t lane, const uint32_t* tokens, size_t count,
                      sfl_error* error) noexcept {
  try {
    const std::shared_ptr<TickPort> port = Ports().Find(user);
    if (port == nullptr) {
      return StatusToAbi(absl::FailedPreconditionError("a callback's `user` is not that of a tick"),
                         error);
    }
    return StatusToAbi(port->Emit(lane, tokens, count), error);
  } catch (...) {
    return StatusToAbi(StatusFromCurrentException("the host"), error);
  }
}

}  // namespace

TickPort::TickPort(uint32_t vocab_size)
    : thread_(std::this_thread::get_id()), vocab_size_(vocab_size) {}

void TickPort::Open(const CancelToken& token, TickHost& host, std::vector<PortLane> lanes,
                    bool emits) {
  host_ = &host;
  emits_ = emits;
  lanes_ = std::move(lanes);
  emitted_.assign(lanes_.size(), {});
  told_to_stop_.assign(lanes_.size(), false);
  host_failure_ = absl::OkStatus();
  gate_.Open(&token);
}

void TickPort::Close() {
  host_ = nullptr;
  gate_.Close();
}

absl::Status TickPort::CheckCall() const {
  // The thread first: the rest may be looked at by the engine's thread only.
  if (std::this_thread::get_id() != thread_) {
    return absl::FailedPreconditionError("a callback was called on another thread than the call");
  }
  if (host_ == nullptr) {
    return absl::FailedPreconditionError("a callback was called after its call ended");
  }
  return absl::OkStatus();
}

template <typename Call>
absl::Status TickPort::AskHost(Call&& call) {
  try {
    call();
    return absl::OkStatus();
  } catch (...) {
    absl::Status failure = StatusFromCurrentException("the host of the tick");
    if (host_failure_.ok()) host_failure_ = failure;
    return failure;
  }
}

bool TickPort::LaneStopped(size_t lane) {
  if (!CheckCall().ok() || lane >= lanes_.size()) return true;
  bool stopped = true;
  const absl::Status asked = AskHost([&] { stopped = host_->LaneStopped(lanes_[lane].index); });
  told_to_stop_[lane] = told_to_stop_[lane] || stopped;
  return !asked.ok() || stopped;
}

absl::Status TickPort::CheckEmit(size_t lane, const uint32_t* tokens, size_t count) const {
  if (!emits_) return absl::FailedPreconditionError("this tick wants no partial emits");
  if (lane >= lanes_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the tick has no lane ", lane));
  }
  if (count > 0 && tokens == nullptr) {
    return absl::InvalidArgumentError("emitted tokens are NULL but have a count");
  }
  if (count > lanes_[lane].capacity - emitted_[lane].size()) {
    return absl::InvalidArgumentError("a lane emits more tokens than it may draw");
  }
  if (std::any_of(tokens, tokens + count, [this](Token token) { return token >= vocab_size_; })) {
    return absl::InvalidArgumentError("an emitted token is outside the vocabulary");
  }
  return absl::OkStatus();
}

absl::Status TickPort::Emit(size_t lane, const uint32_t* tokens, size_t count) {
  if (absl::Status status = CheckCall(); !status.ok()) return status;
  if (absl::Status status = CheckEmit(lane, tokens, count); !status.ok()) return status;
  if (count == 0) return absl::OkStatus();
  std::vector<Token>& emitted = emitted_[lane];
  const size_t before = emitted.size();
  emitted.insert(emitted.end(), tokens, tokens + count);
  return AskHost(
      [&] { host_->Emit(lanes_[lane].index, absl::MakeConstSpan(emitted).subspan(before)); });
}

RegisteredTickPort::RegisteredTickPort(uint32_t vocab_size)
    : port_(std::make_shared<TickPort>(vocab_size)), handle_(Ports().Add(port_)) {}

RegisteredTickPort::~RegisteredTickPort() { Ports().Remove(handle_); }

void RegisteredTickPort::Attach(sfl_tick& tick) const {
  tick.user = handle_;
  tick.cancelled = &AskCancelled;
  tick.lane_stopped = &AskLaneStopped;
  tick.emit = &EmitTokens;
}

}  // namespace superfluid
