#include "tools/ctl/formats/json_format.h"

#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/formats/transcript_json.h"

namespace superfluid::ctl {

std::string JsonFormat::Segment(const linkw::TranscribeSegment&, absl::Duration) { return ""; }

std::string JsonFormat::End(const TranscriptionOutcome& outcome) {
  return JsonDocument(OutcomeJson(outcome));
}

std::string JsonLinesFormat::Segment(const linkw::TranscribeSegment& segment,
                                     absl::Duration since_start) {
  Json line = {{"event", "segment"},
               {"index", segment.index},
               {"partial", segment.is_partial},
               {"at_ms", JsonMs(since_start)},
               {"audio_ms", segment.audio_ms},
               {"audio_total_ms", segment.audio_total_ms}};
  line.update(SegmentJson(segment));
  return JsonLine(line);
}

std::string JsonLinesFormat::End(const TranscriptionOutcome& outcome) {
  Json line = {{"event", "result"}};
  line.update(OutcomeJson(outcome));
  return JsonLine(line);
}

}  // namespace superfluid::ctl
