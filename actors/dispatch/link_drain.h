#ifndef SUPERFLUID_ACTORS_DISPATCH_LINK_DRAIN_H_
#define SUPERFLUID_ACTORS_DISPATCH_LINK_DRAIN_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/cancel_token.h"

namespace superfluid {

// The drain of one link (DRAIN-2 to DRAIN-5): what was open when it began, how that ended, and
// whom to tell.
//
//   none --Begin--> under way --Begin: taken over, counts and the earlier deadline stay--.
//     \                |  ^______________________________________________________________|
//      \__TakeResult___|      (once nothing is open and no other link is waited for)
//
// Times are monotonic nanoseconds. Threads: one.
class LinkDrain {
 public:
  static constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();

  // How many requests a drain waited for.
  struct Counts {
    uint32_t finished = 0;
    uint32_t cancelled = 0;
    bool cut = false;  // the drain itself cancelled some of them
  };
  struct Result {
    uint64_t reply_to = 0;  // seq of the DRAIN to answer; 0: none
    Counts here;            // of this link alone
    Counts everywhere;      // what the answer says
  };

  // Begins a drain, with `open` requests to count, or takes over the one that is under way with the
  // requests that it counts.
  // `reply_to`: seq of the DRAIN that asks, kept if one was kept; 0: nobody on this link. Returns
  // the time at which what is left has to be cancelled if that is earlier than before.
  std::optional<int64_t> Begin(uint64_t reply_to, size_t open, int64_t until_ns) {
    if (!active_) {
      *this = LinkDrain(number_ + 1);
      reply_to_ = reply_to;
      open_at_start_ = open;
    }
    if (until_ns >= until_ns_) return std::nullopt;
    until_ns_ = until_ns;
    return until_ns;
  }

  // Holds the result back until ResumeAfterOthers: other links drain first.
  // REQUIRES: active().
  void WaitForOthers() { waits_for_others_ = true; }
  void ResumeAfterOthers(Counts elsewhere) {
    waits_for_others_ = false;
    elsewhere_ = elsewhere;
  }

  // Counts the end of one of the requests that the drain counts, `cancel` saying why it was
  // cancelled. Has no effect while no drain is under way.
  void NoteEnd(CancelReason cancel) {
    if (!active_ || cancel == CancelReason::kNone) return;
    ++cancelled_;
    cut_ |= cancel == CancelReason::kDraining;
  }

  // Ends the drain and returns its result; nullopt while something is open or others are waited
  // for.
  std::optional<Result> TakeResult(size_t open) {
    if (!active_ || waits_for_others_ || open > 0) return std::nullopt;
    active_ = false;
    assert(cancelled_ <= open_at_start_);
    Result result{.reply_to = reply_to_,
                  .here = {.finished = static_cast<uint32_t>(open_at_start_ - cancelled_),
                           .cancelled = static_cast<uint32_t>(cancelled_),
                           .cut = cut_},
                  .everywhere = {}};
    result.everywhere = {.finished = result.here.finished + elsewhere_.finished,
                         .cancelled = result.here.cancelled + elsewhere_.cancelled};
    return result;
  }

  bool active() const { return active_; }
  // Tells one drain's alarm from another's.
  uint64_t number() const { return number_; }

  LinkDrain() = default;

 private:
  explicit LinkDrain(uint64_t number) : active_(true), number_(number) {}

  bool active_ = false;
  bool waits_for_others_ = false;
  uint64_t number_ = 0;
  uint64_t reply_to_ = 0;
  size_t open_at_start_ = 0;
  size_t cancelled_ = 0;
  bool cut_ = false;
  int64_t until_ns_ = kNoDeadline;
  Counts elsewhere_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_LINK_DRAIN_H_
