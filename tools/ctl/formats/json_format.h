#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_JSON_FORMAT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_JSON_FORMAT_H_

#include <string>

#include "absl/time/time.h"
#include "tools/ctl/formats/transcript_format.h"

namespace superfluid::ctl {

// One JSON object at the end, with everything; see OutcomeJson.
class JsonFormat : public TranscriptFormat {
 public:
  std::string Segment(const linkw::TranscribeSegment& segment, absl::Duration since_start) override;
  std::string End(const TranscriptionOutcome& outcome) override;
};

// JSON lines: an object a segment as it comes ("event": "segment", with "index", "partial", "at_ms"
// since the start, "audio_ms" and "audio_total_ms"), then one like JsonFormat's ("event":
// "result").
class JsonLinesFormat : public TranscriptFormat {
 public:
  std::string Segment(const linkw::TranscribeSegment& segment, absl::Duration since_start) override;
  std::string End(const TranscriptionOutcome& outcome) override;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_JSON_FORMAT_H_
