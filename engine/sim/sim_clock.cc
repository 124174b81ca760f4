#include "engine/sim/sim_clock.h"

#include "absl/time/clock.h"
#include "engine/monotonic_time.h"

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
    const absl::Time end = MonotonicTime() + work;
    while (MonotonicTime() < end) {
    }
  }

  void Hang(absl::Duration limit) override { absl::SleepFor(limit); }

 private:
  const SimWork work_;
};

}  // namespace

absl::Time SimClock::Now() const { return MonotonicTime(); }

std::shared_ptr<SimClock> MakeRealSimClock(SimWork work) {
  return std::make_shared<RealSimClock>(work);
}

}  // namespace superfluid
