#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DECODE_ORDER_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DECODE_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <set>

#include "tools/superfluidd/fleet/dispatch_queue.h"

namespace superfluid::daemon {

// Which recordings are decoded before their requests have a worker: the oldest first, few at a
// time. One whose request has a worker is decoded at once, and counts no more.
//
//   Want -> waiting --TakeAhead--> ahead --Need--> needed --Ended--> gone
//              \------------Need--------------------^   ("begin now")
class DecodeOrder {
 public:
  explicit DecodeOrder(size_t most_ahead) : most_ahead_(most_ahead) {}

  // A request waits for a worker. REQUIRES: it is not known.
  void Want(RequestNumber number) { waiting_.push_back(number); }

  // Takes the request that is to be decoded ahead next, if one may be.
  std::optional<RequestNumber> TakeAhead() {
    if (waiting_.empty() || ahead_.size() >= most_ahead_) return std::nullopt;
    const RequestNumber number = waiting_.front();
    waiting_.pop_front();
    ahead_.insert(number);
    return number;
  }

  // The request has a worker. Returns whether nobody decodes it yet.
  bool Need(RequestNumber number) {
    const bool runs = ahead_.erase(number) > 0;
    RemoveWaiting(number);
    return !runs;
  }

  // Its decode has ended, or nobody wants it any more.
  void Forget(RequestNumber number) {
    ahead_.erase(number);
    RemoveWaiting(number);
  }

 private:
  void RemoveWaiting(RequestNumber number) {
    waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), number), waiting_.end());
  }

  size_t most_ahead_;
  std::deque<RequestNumber> waiting_;
  std::set<RequestNumber> ahead_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_DECODE_ORDER_H_
