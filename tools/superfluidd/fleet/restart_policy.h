#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_RESTART_POLICY_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_RESTART_POLICY_H_

#include <algorithm>

#include "absl/time/time.h"
#include "protocol/messages/status.h"

namespace superfluid::daemon {

// When a worker that ended is started again: at once the first time, then after pauses that double,
// until it has lived for a while. A plain class; threads: one.
class RestartPolicy {
 public:
  static constexpr absl::Duration kFirstPause = absl::Milliseconds(250);
  static constexpr absl::Duration kLongestPause = absl::Seconds(30);
  static constexpr absl::Duration kGoodLife = absl::Seconds(60);

  // Returns the pause before the next start. `lived`: from its being ready to its end; zero if it
  // was never ready.
  absl::Duration NextPause(absl::Duration lived) {
    if (lived >= kGoodLife) pause_ = absl::ZeroDuration();
    const absl::Duration pause = pause_;
    pause_ = pause_ == absl::ZeroDuration() ? kFirstPause : std::min(pause_ * 2, kLongestPause);
    return lived == absl::ZeroDuration() ? std::max(pause, kFirstPause) : pause;
  }

 private:
  absl::Duration pause_ = absl::ZeroDuration();
};

// Returns whether a request that ended so may be given to another worker: the fault is the
// worker's, and the client has been told nothing of the text yet.
inline bool MayRetry(linkw::Status status, bool told_client, uint32_t attempts) {
  constexpr uint32_t kMaxAttempts = 3;  // what kills every worker must end
  if (told_client || attempts >= kMaxAttempts) return false;
  switch (status) {
    case linkw::Status::kLinkClosed:
    case linkw::Status::kEngineFailed:
    case linkw::Status::kEngineStalled:
    case linkw::Status::kBusy:
    case linkw::Status::kDraining:
      return true;
    default:
      return false;
  }
}

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_RESTART_POLICY_H_
