#include "engine/sim/sim_clock.h"

#include "absl/time/clock.h"
#include "engine/monotonic_time.h"

namespace superfluid {
namespace {

class RealSimClock : public SimClock {
 public:
  explicit RealSimClock(SimWork work) : work_(work) {}

  // Slice by slice: what is left when the process is stopped is left when it goes on.
  void Spend(absl::Duration work) override {
    for (; work > kSlice; work -= kSlice) SpendSlice(kSlice);
    if (work > absl::ZeroDuration()) SpendSlice(work);
  }

  void Hang(absl::Duration limit) override { absl::SleepFor(limit); }

 private:
  static constexpr absl::Duration kSlice = absl::Milliseconds(20);

  void SpendSlice(absl::Duration work) const {
    if (work_ == SimWork::kSleep) return absl::SleepFor(work);
    const absl::Time end = MonotonicTime() + work;
    while (MonotonicTime() < end) {
    }
  }

  const SimWork work_;
};

}  // namespace

absl::Time SimClock::Now() const { return MonotonicTime(); }

std::shared_ptr<SimClock> MakeRealSimClock(SimWork work) {
  return std::make_shared<RealSimClock>(work);
}

}  // namespace superfluid
