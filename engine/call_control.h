#ifndef SUPERFLUID_ENGINE_CALL_CONTROL_H_
#define SUPERFLUID_ENGINE_CALL_CONTROL_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "engine/cancel_token.h"

namespace superfluid {

// What a call that may compute or read for long is given: whether it is to stop, and where it shows
// that it is alive. Such a call may take longer than EngineInfo::micro_step, as long as it calls
// GoOn or Progress at least that often; a call that does neither is stuck.
//
// Threads: the engine's, but for token(). Lifetime: within the call.
class CallControl {
 public:
  // Of a call that nobody stops and nobody watches.
  CallControl() = default;
  // `token` must outlive the control. `on_progress` may be null.
  CallControl(const CancelToken& token, std::function<void()> on_progress)
      : token_(&token), on_progress_(std::move(on_progress)) {}
  CallControl(const CallControl&) = delete;
  CallControl& operator=(const CallControl&) = delete;

  const CancelToken& token() const { return *token_; }

  // Reports that the call got on: a part was computed, bytes were read.
  void Progress() const {
    if (on_progress_ != nullptr) on_progress_();
  }

  // Reports that the call got on, and returns whether it may: Cancelled once the token is set. For
  // the places at which the call can be left without anything half done.
  absl::Status GoOn() const {
    Progress();
    return token_->cancelled() ? absl::CancelledError("cancelled") : absl::OkStatus();
  }

 private:
  static const CancelToken& Never() {
    static const CancelToken kNever;
    return kNever;
  }

  const CancelToken* token_ = &Never();
  std::function<void()> on_progress_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CALL_CONTROL_H_
