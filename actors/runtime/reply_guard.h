#ifndef SUPERFLUID_ACTORS_RUNTIME_REPLY_GUARD_H_
#define SUPERFLUID_ACTORS_RUNTIME_REPLY_GUARD_H_

#include <utility>

#include "absl/status/status.h"
#include "actors/runtime/status_error.h"
#include "caf/typed_response_promise.hpp"

namespace superfluid {

// A promise to answer a request later that cannot be forgotten or kept twice: CAF sends nothing for
// a dropped promise, and each copy of one may answer. The guard answers once; if it is destroyed
// before, it answers with an Internal error, so that the requester learns of the bug instead of
// waiting.
//
// Threads: the actor that made the promise. Lifetime: must not outlive that actor's state.
template <class Reply>
class ReplyGuard {
 public:
  explicit ReplyGuard(caf::typed_response_promise<Reply> promise) : promise_(std::move(promise)) {}
  ReplyGuard(const ReplyGuard&) = delete;
  ReplyGuard& operator=(const ReplyGuard&) = delete;
  ReplyGuard(ReplyGuard&& other) noexcept
      : promise_(std::exchange(other.promise_, caf::typed_response_promise<Reply>())) {}
  ReplyGuard& operator=(ReplyGuard&&) = delete;
  ~ReplyGuard() { Fail(absl::InternalError("the request was dropped without an answer")); }

  void Answer(Reply reply) {
    if (promise_.pending()) std::exchange(promise_, {}).deliver(std::move(reply));
  }
  void Fail(const absl::Status& status) {
    if (promise_.pending()) std::exchange(promise_, {}).deliver(ToError(status));
  }

 private:
  caf::typed_response_promise<Reply> promise_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_REPLY_GUARD_H_
