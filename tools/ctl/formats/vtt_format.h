#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_VTT_FORMAT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_VTT_FORMAT_H_

#include <string>

#include "absl/time/time.h"
#include "tools/ctl/formats/transcript_format.h"

namespace superfluid::ctl {

// WebVTT subtitles. Segments without text make no cue; partial ones are left out.
class VttFormat : public TranscriptFormat {
 public:
  // `words`: mark when each word starts, where the engine says so.
  explicit VttFormat(bool words = false) : words_(words) {}

  std::string Begin() override;
  std::string Segment(const linkw::TranscribeSegment& segment, absl::Duration since_start) override;
  std::string End(const TranscriptionOutcome& outcome) override;

 private:
  bool words_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_VTT_FORMAT_H_
