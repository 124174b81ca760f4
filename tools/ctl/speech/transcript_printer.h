#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIPT_PRINTER_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIPT_PRINTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/base/output.h"
#include "tools/ctl/formats/transcript_format.h"
#include "tools/ctl/terminal/progress_line.h"

namespace superfluid::ctl {

// Writes a transcription down as it comes, with a progress bar below it. Every method that writes
// returns Output's errors. All times count from the request. Threads: one.
class TranscriptPrinter {
 public:
  struct Options {
    // Partial segments are shown in the progress bar, if there is one, and not written.
    bool partials_in_bar = false;
  };

  // `out` and `terminal` (null: no progress bar) must outlive it.
  TranscriptPrinter(std::unique_ptr<TranscriptFormat> format, Output* out, Output* terminal,
                    Options options);

  absl::Status Begin();
  absl::Status OnSegment(const linkw::TranscribeSegment& segment, absl::Duration since_start);
  // No segment came for a while; `audio_ms`: what the worker has consumed by now.
  void OnIdle(absl::Duration since_start, int64_t audio_ms);
  // The final answer; segments that only it has are written first.
  absl::Status OnEnd(const TranscriptionOutcome& outcome);
  // Removes the progress bar.
  void ClearProgress() { line_.Clear(); }

  // The final segments that came so far as a result, for a transcription without a final answer.
  linkw::TranscribeResult ResultSoFar() const;
  std::optional<absl::Duration> first_segment() const { return first_segment_; }

 private:
  absl::Status Write(const std::string& text);
  void Draw(absl::Duration since_start);

  std::unique_ptr<TranscriptFormat> format_;
  Output* out_;
  Options options_;
  ProgressLine line_;
  Progress progress_;
  std::vector<linkw::TranscriptSegment> segments_;  // final ones
  std::optional<absl::Duration> first_segment_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIPT_PRINTER_H_
