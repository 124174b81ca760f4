#ifndef SUPERFLUID_ACTORS_DISPATCH_LINK_SESSION_H_
#define SUPERFLUID_ACTORS_DISPATCH_LINK_SESSION_H_

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>

#include "actors/dispatch/link_drain.h"
#include "actors/link/admission.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// Where one link stands: its phase, its role and its drain.
//
//   awaiting HELLO --Claim--> claiming its role --Grant--> open --BeginDrain--> draining
//         \______________________\_________________ End _____/____________________/
//
// Knows no actor, no message and no clock: the Dispatcher feeds events in and acts on what comes
// out. Times are monotonic nanoseconds. Threads: one.
class LinkSession {
 public:
  LinkPhase phase() const { return phase_; }
  linkw::Role role() const { return role_; }
  bool is_driver() const { return role_ == linkw::Role::kDriver; }
  bool ended() const { return phase_ == LinkPhase::kEnded; }
  // Returns whether the role of a driver was granted: the engine may hold something of this link.
  bool drove() const { return drove_; }
  // Returns whether frames may be handled now: not before the role is decided, nor after the end.
  bool handles_frames() const { return !ended() && phase_ != LinkPhase::kClaimingRole; }
  // Returns when the role was granted; 0: not yet.
  int64_t open_since_ns() const { return open_since_ns_; }

  // An accepted HELLO asks for `role`. REQUIRES: phase() is kAwaitingHello.
  void Claim(linkw::Role role) {
    assert(phase_ == LinkPhase::kAwaitingHello);
    phase_ = LinkPhase::kClaimingRole;
    role_ = role;
  }

  // The role is this link's. REQUIRES: phase() is kClaimingRole.
  void Grant(int64_t now_ns) {
    assert(phase_ == LinkPhase::kClaimingRole);
    phase_ = LinkPhase::kOpen;
    open_since_ns_ = now_ns;
    drove_ = is_driver();
  }

  // Begins a drain or takes one over; see LinkDrain::Begin. REQUIRES: handles_frames().
  std::optional<int64_t> BeginDrain(uint64_t reply_to, size_t open, int64_t until_ns) {
    assert(handles_frames());
    phase_ = LinkPhase::kDraining;
    return drain_.Begin(reply_to, open, until_ns);
  }

  // Ends the link once its drain has a result: the worker is shutting down.
  void EndAfterDrain() { ends_after_drain_ = true; }
  bool ends_after_drain() const { return ends_after_drain_; }

  LinkDrain& drain() { return drain_; }
  const LinkDrain& drain() const { return drain_; }

  // Ends the link. Returns false if it has ended already.
  bool End() { return std::exchange(phase_, LinkPhase::kEnded) != LinkPhase::kEnded; }

 private:
  LinkPhase phase_ = LinkPhase::kAwaitingHello;
  linkw::Role role_ = linkw::Role::kObserver;
  bool drove_ = false;
  bool ends_after_drain_ = false;
  int64_t open_since_ns_ = 0;
  LinkDrain drain_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_LINK_SESSION_H_
