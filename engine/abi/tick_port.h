#ifndef SUPERFLUID_ENGINE_ABI_TICK_PORT_H_
#define SUPERFLUID_ENGINE_ABI_TICK_PORT_H_

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/abi/cancel_gate.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/cancel_token.h"
#include "engine/tick.h"

namespace superfluid {

// A lane of the tick that the plug-in sees.
struct PortLane {
  size_t index = 0;     // in the Tick; the plug-in sees fewer if some were refused
  size_t capacity = 0;  // tokens that it may draw
};

// The host's side of ticks, as a plug-in can reach it: cancel state, stops, emits. It answers only
// while a tick is running, and expects anything.
//
// Threads: `Cancelled` any thread; the rest the thread that made the port, which the callbacks
// check.
class TickPort {
 public:
  // Tokens of `vocab_size` and above are refused.
  explicit TickPort(uint32_t vocab_size);

  // Opens the port for one tick. All must stay valid until Close, which waits for a Cancelled in
  // progress.
  void Open(const CancelToken& token, TickHost& host, std::vector<PortLane> lanes, bool emits);
  void Close();

  CancelReason Cancelled() const { return gate_.Reason(); }

  // True also for a foreign thread, outside of a tick, for a lane that is none, and if the host
  // fails.
  bool LaneStopped(size_t lane);

  // Errors: those of sfl_tick.emit.
  absl::Status Emit(size_t lane, const uint32_t* tokens, size_t count);

  // Of the open or last tick: what a lane emitted, whether it was told to stop, and the first
  // failure of the host itself, which the plug-in may have swallowed.
  absl::Span<const Token> emitted(size_t lane) const { return emitted_[lane]; }
  bool told_to_stop(size_t lane) const { return told_to_stop_[lane]; }
  const absl::Status& host_failure() const { return host_failure_; }

 private:
  absl::Status CheckCall() const;
  absl::Status CheckEmit(size_t lane, const uint32_t* tokens, size_t count) const;
  template <typename Call>
  absl::Status AskHost(Call&& call);

  const std::thread::id thread_;
  const uint32_t vocab_size_;
  CancelGate gate_;
  TickHost* host_ = nullptr;
  bool emits_ = false;
  std::vector<PortLane> lanes_;
  std::vector<std::vector<Token>> emitted_;
  std::vector<bool> told_to_stop_;
  absl::Status host_failure_;
};

// A port known to the plug-in by a handle, for as long as this object lives (see HandleTable).
class RegisteredTickPort {
 public:
  explicit RegisteredTickPort(uint32_t vocab_size);
  RegisteredTickPort(const RegisteredTickPort&) = delete;
  RegisteredTickPort& operator=(const RegisteredTickPort&) = delete;
  ~RegisteredTickPort();

  TickPort& port() { return *port_; }

  // Fills in the callbacks of a tick and their `user`.
  void Attach(sfl_tick& tick) const;

 private:
  std::shared_ptr<TickPort> port_;
  void* handle_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_TICK_PORT_H_
