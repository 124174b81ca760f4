#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_SRT_FORMAT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_SRT_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "tools/ctl/formats/transcript_format.h"

namespace superfluid::ctl {

// SubRip subtitles. Segments without text make no cue; partial ones are left out.
class SrtFormat : public TranscriptFormat {
 public:
  std::string Segment(const linkw::TranscribeSegment& segment, absl::Duration since_start) override;
  std::string End(const TranscriptionOutcome& outcome) override;

 private:
  uint64_t cues_ = 0;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_SRT_FORMAT_H_
