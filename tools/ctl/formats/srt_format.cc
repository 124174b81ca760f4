#include "tools/ctl/formats/srt_format.h"

#include "absl/strings/str_cat.h"
#include "tools/ctl/formats/cue_text.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {

std::string SrtFormat::Segment(const linkw::TranscribeSegment& segment, absl::Duration) {
  const std::string text = CueText(segment.text);
  if (segment.is_partial || text.empty()) return "";
  const CueTimes times = CueTimesOf(segment);
  return absl::StrCat(++cues_, "\n", TimestampText(times.start_ms, ','), " --> ",
                      TimestampText(times.end_ms, ','), "\n", text, "\n\n");
}

std::string SrtFormat::End(const TranscriptionOutcome&) { return ""; }

}  // namespace superfluid::ctl
