#include "engine/abi/slow_steps.h"

#include <algorithm>
#include <utility>

namespace superfluid {
namespace {

// Slow is what took more than twice what was said, and more than a busy machine adds.
constexpr int kTimes = 2;
constexpr absl::Duration kSlack = absl::Milliseconds(10);

// Three slow steps are a finding, if there are less than ten others between them.
constexpr int kPointsOfSlowStep = 10;
constexpr int kPointsOfFinding = 3 * kPointsOfSlowStep - kPointsOfSlowStep + 1;

}  // namespace

SlowSteps::SlowSteps(absl::Duration said, std::function<void(const SlowStep&)> report)
    : said_(said), report_(std::move(report)) {}

void SlowSteps::Add(absl::Duration took, bool asked_whether_cancelled) {
  if (report_ == nullptr) return;
  const bool is_slow = took > kTimes * said_ + kSlack;
  points_ = is_slow ? points_ + kPointsOfSlowStep : std::max(points_ - 1, 0);
  if (!is_slow || points_ < kPointsOfFinding) return;
  std::exchange(report_, nullptr)(
      {.took = took, .said = said_, .asked_whether_cancelled = asked_whether_cancelled});
}

}  // namespace superfluid
