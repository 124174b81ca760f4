#include "tools/decode/timeline.h"

#include <cmath>

namespace superfluid::decode {
namespace {

constexpr double kMinGap = 0.5;
constexpr double kMaxGap = 600;

}  // namespace

double Timeline::SilenceBefore(double stamp, double heard) {
  if (!std::isfinite(stamp)) return 0;
  const double gap = stamp - skew_ - heard;
  if (gap > kMinGap && gap <= kMaxGap) return gap;
  if (std::abs(gap) > kMinGap) skew_ += gap;
  return 0;
}

}  // namespace superfluid::decode
