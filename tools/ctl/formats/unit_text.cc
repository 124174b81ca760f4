#include "tools/ctl/formats/unit_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace superfluid::ctl {
namespace {

constexpr int64_t kMsPerSecond = 1000;
constexpr int64_t kMsPerMinute = 60 * kMsPerSecond;
constexpr int64_t kMsPerHour = 60 * kMsPerMinute;

// 8.10, 75.0, 850: three digits, whatever the size.
std::string ThreeDigits(double value) {
  if (value < 9.995) return absl::StrFormat("%.2f", value);
  if (value < 99.95) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.0f", value);
}

}  // namespace

std::string TimestampText(int64_t ms, char decimal_mark) {
  ms = std::max<int64_t>(ms, 0);
  return absl::StrFormat("%02d:%02d:%02d%c%03d", ms / kMsPerHour, ms % kMsPerHour / kMsPerMinute,
                         ms % kMsPerMinute / kMsPerSecond, decimal_mark, ms % kMsPerSecond);
}

std::string ShortTimestampText(int64_t ms) {
  ms = std::max<int64_t>(ms, 0);
  if (ms >= kMsPerHour) {
    return absl::StrFormat("%d:%02d:%02d", ms / kMsPerHour, ms % kMsPerHour / kMsPerMinute,
                           ms % kMsPerMinute / kMsPerSecond);
  }
  return absl::StrFormat("%d:%02d.%d", ms / kMsPerMinute, ms % kMsPerMinute / kMsPerSecond,
                         ms % kMsPerSecond / 100);
}

std::string DurationText(absl::Duration duration) {
  if (duration <= absl::ZeroDuration()) return "0 s";
  if (duration < absl::Milliseconds(1)) {
    return absl::StrFormat("%.0f us", absl::ToDoubleMicroseconds(duration));
  }
  if (duration < absl::Seconds(1)) {
    return absl::StrFormat("%s ms", ThreeDigits(absl::ToDoubleMilliseconds(duration)));
  }
  return absl::StrFormat("%s s", ThreeDigits(absl::ToDoubleSeconds(duration)));
}

std::string AgeText(absl::Duration age) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  const int64_t seconds = std::max<int64_t>(absl::ToInt64Seconds(age), 0);
  if (seconds < kMinute) return absl::StrFormat("%d s", seconds);
  if (seconds < kHour) {
    return absl::StrFormat("%d min %d s", seconds / kMinute, seconds % kMinute);
  }
  if (seconds < kDay) {
    return absl::StrFormat("%d h %d min", seconds / kHour, seconds % kHour / kMinute);
  }
  return absl::StrFormat("%d d %d h", seconds / kDay, seconds % kDay / kHour);
}

std::string CountText(uint64_t count, std::string_view noun) {
  return absl::StrFormat("%d %s%s", count, noun, count == 1 ? "" : "s");
}

std::string BytesText(uint64_t bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrFormat("%d B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", value, units[unit]);
}

}  // namespace superfluid::ctl
