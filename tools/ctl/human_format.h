#ifndef SUPERFLUID_TOOLS_CTL_HUMAN_FORMAT_H_
#define SUPERFLUID_TOOLS_CTL_HUMAN_FORMAT_H_

#include <string>

#include "absl/time/time.h"
#include "tools/ctl/transcript_format.h"

namespace superfluid::ctl {

// How fast it went beside the audio: "0.14 (7.0 times faster than the audio)"; empty without audio.
std::string RealTimeFactorText(const TranscriptionOutcome& outcome);

// Text for people: a line a segment, then the whole text and the figures.
//
//   [00:00:01.230 --> 00:00:03.450] and so it began
//
// After an error that left nothing to show it adds nothing.
class HumanFormat : public TranscriptFormat {
 public:
  struct Options {
    bool timestamps = true;
    bool words = false;  // a line a word, below its segment
  };

  explicit HumanFormat(Options options) : options_(options) {}

  std::string Segment(const linkw::TranscribeSegment& segment, absl::Duration since_start) override;
  std::string End(const TranscriptionOutcome& outcome) override;

 private:
  Options options_;
  bool any_segment_ = false;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_HUMAN_FORMAT_H_
