#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_UNIT_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_UNIT_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

// Times and sizes as people read them. Pure functions.
namespace superfluid::ctl {

// A position in audio: "00:01:02.345"; hours take more digits when they must. Negative: 0.
// `decimal_mark` stands before the milliseconds: SRT wants ','.
std::string TimestampText(int64_t ms, char decimal_mark = '.');

// The same for a narrow place: "1:02.3", or "1:02:03" from an hour on. Negative: 0.
std::string ShortTimestampText(int64_t ms);

// A span of time with three digits that matter: "850 us", "8.10 ms", "1.23 s", "75.0 s".
std::string DurationText(absl::Duration duration);

// An age, in the two units that matter: "45 s", "3 min 20 s", "2 h 5 min", "12 d 7 h".
std::string AgeText(absl::Duration age);

// "1 segment", "2 segments".
std::string CountText(uint64_t count, std::string_view noun);

// "0 B", "512 B", "1.5 KiB", "85.1 MiB".
std::string BytesText(uint64_t bytes);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_UNIT_TEXT_H_
