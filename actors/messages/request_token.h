#ifndef SUPERFLUID_ACTORS_MESSAGES_REQUEST_TOKEN_H_
#define SUPERFLUID_ACTORS_MESSAGES_REQUEST_TOKEN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "actors/messages/engine_progress.h"
#include "engine/cancel_token.h"

namespace superfluid {

// What the owner of a request shares with the engine: the flag by which it is stopped, and which of
// the two decides about it while it waits.
//
//   waiting <--Begin, Unbegin (the engine)--> begun
//      \_____EndWaiting (its owner)--> ended
//
// Exactly one of the two succeeds, so a request that has not begun can be answered while the engine
// is inside a long step, and is not answered twice. It counts as waiting (PONG's queue_depth) until
// one does, or until it is destroyed.
//
// Threads: any thread may call any method. Lifetime: as CancelToken.
class RequestToken : public CancelToken {
 public:
  explicit RequestToken(std::shared_ptr<EngineProgress> progress) : progress_(std::move(progress)) {
    progress_->AddWaiting(1);
  }
  RequestToken(const RequestToken&) = delete;
  RequestToken& operator=(const RequestToken&) = delete;
  ~RequestToken() { Leave(State::kEnded); }

  // Returns whether the engine may begin the request: its owner has not ended it.
  bool Begin() noexcept { return Leave(State::kBegun) || state_ == State::kBegun; }

  // Has the request wait again: the engine had no room for it. REQUIRES: Begin returned true, and
  // the engine has done nothing for the request.
  void Unbegin() noexcept {
    State begun = State::kBegun;
    // The count first: it is never short of a request that waits.
    progress_->AddWaiting(1);
    if (!state_.compare_exchange_strong(begun, State::kWaiting)) progress_->AddWaiting(-1);
  }

  // Returns whether the request is now its owner's to answer: the engine has not begun it, and
  // never will.
  bool EndWaiting() noexcept { return Leave(State::kEnded); }

  // Notes that the last answer is about to be handed to LinkWriter: the request counts against no
  // limit any more, since a peer that has the answer must find the place free. By whoever answers,
  // before that.
  void MarkAnswered() noexcept { answered_.store(true); }
  bool answered() const noexcept { return answered_.load(); }

 private:
  enum class State : uint8_t { kWaiting, kBegun, kEnded };

  bool Leave(State state) noexcept {
    State waiting = State::kWaiting;
    if (!state_.compare_exchange_strong(waiting, state)) return false;
    progress_->AddWaiting(-1);
    return true;
  }

  const std::shared_ptr<EngineProgress> progress_;
  std::atomic<State> state_{State::kWaiting};
  std::atomic<bool> answered_{false};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_REQUEST_TOKEN_H_
