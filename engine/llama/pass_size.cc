#include "engine/llama/pass_size.h"

#include <cmath>

namespace superfluid {
namespace {

constexpr double kMostGrowth = 4;
constexpr double kQuick = 0.25;     // of the target
constexpr double kAimAtMost = 0.5;  // of the target, where it grows

}  // namespace

void PassSize::Took(size_t tokens, absl::Duration time) {
  if (target_ <= absl::ZeroDuration() || tokens == 0) return;
  const double share = absl::FDivDuration(std::max(time, absl::Microseconds(1)), target_);
  auto next = static_cast<double>(tokens_);
  if (share > 1) {
    next = std::min(next, static_cast<double>(tokens) / share);
  } else if (tokens >= tokens_ && share < kQuick) {
    next *= std::min(kMostGrowth, kAimAtMost / share);
  }
  const auto whole = static_cast<size_t>(std::floor(next));
  tokens_ = std::clamp(whole, std::min(kLeast, most_), most_);
}

}  // namespace superfluid
