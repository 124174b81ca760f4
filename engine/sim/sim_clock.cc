#include "engine/sim/sim_clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace superfluid {
namespace {

class RealSimClock : public SimClock {
 public:
  explicit RealSimClock(SimWork work) : work_(work) {}

  void Spend(absl::Duration work) override {
    if (work <= absl::ZeroDuration()) return;
    if (work_ == SimWork::kSleep) {
      absl::SleepFor(work);
      return;
    }
    const absl::Time end = absl::Now() + work;
    while (absl::Now() < end) {
    }
  }

  void Hang(absl::Duration limit) override { absl::SleepFor(limit); }

 private:
  const SimWork work_;
};

}  // namespace

absl::Time SimClock::Now() const {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return absl::UnixEpoch() + absl::FromChrono(since_start);
}

std::shared_ptr<SimClock> MakeRealSimClock(SimWork work) {
  return std::make_shared<RealSimClock>(work);
}

}  // namespace superfluid
