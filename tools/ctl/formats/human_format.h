#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_HUMAN_FORMAT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_HUMAN_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "tools/ctl/formats/transcript_format.h"

namespace superfluid::ctl {

// The audio that there is text of. Of what did not go to its end that is up to the last segment:
// how much the worker had read by then says little.
int64_t TranscribedMs(const TranscriptionOutcome& outcome);

// How fast it went beside the audio: "factor 0.143 (7.0 times faster than the audio)". Empty
// without audio, and for what did not go to its end: nobody knows how much of it was really done.
std::string RealTimeFactorText(const TranscriptionOutcome& outcome);

// Text for people: a line a segment, then the whole text (unless the lines were nothing but text)
// and the figures.
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

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_HUMAN_FORMAT_H_
