#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_CUE_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_CUE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/messages/messages.h"

// What the two subtitle formats, SRT and WebVTT, have in common. Pure functions.
namespace superfluid::ctl {

struct CueTimes {
  int64_t start_ms = 0;
  int64_t end_ms = 1;
};

// The times of a cue that players accept: not negative, and it ends after it starts.
CueTimes CueTimesOf(const linkw::TranscriptSegment& segment);

// `text` as the lines of a cue, with no line break at the end: an empty line would end the cue, so
// there is none, and control characters are gone. Empty if there is nothing to show.
std::string CueText(std::string_view text);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_CUE_TEXT_H_
