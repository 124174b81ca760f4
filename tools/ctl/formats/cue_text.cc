#include "tools/ctl/formats/cue_text.h"

#include <algorithm>

#include "tools/ctl/formats/plain_text.h"

namespace superfluid::ctl {
namespace {

// The times are the worker's: any number. A thousand years keep the sum below from overflowing.
constexpr int64_t kMaxMs = int64_t{1000} * 366 * 24 * 3600 * 1000;

}  // namespace

CueTimes CueTimesOf(const linkw::TranscriptSegment& segment) {
  CueTimes times;
  times.start_ms = std::clamp<int64_t>(segment.start_ms, 0, kMaxMs);
  times.end_ms = std::max(std::min(segment.end_ms, kMaxMs), times.start_ms + 1);
  return times;
}

std::string CueText(std::string_view text) {
  std::string cue;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string line = OneLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (!cue.empty()) cue.push_back('\n');
    cue += line;
  }
  return cue;
}

}  // namespace superfluid::ctl
