#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_TRANSCRIPT_FORMAT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_TRANSCRIPT_FORMAT_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// What the client measured, all from the moment at which the request was sent, on a monotonic
// clock.
struct ClientFigures {
  absl::Duration elapsed;                       // to the final answer
  std::optional<absl::Duration> first_segment;  // to the first segment, final or partial
  std::optional<absl::Duration> cancel;         // from the cancel to the final answer
};

// How a transcription ended.
struct TranscriptionOutcome {
  std::string file;  // what was transcribed, as the user named it
  linkw::Status status = linkw::Status::kOk;
  std::string message;  // what went wrong; with kOk a remark on the audio, or empty
  // Of the final answer. If none came: what was streamed until then.
  linkw::TranscribeResult result;
  ClientFigures figures;
};

// A way to write a transcription down: subtitles, JSON, text. The pieces that it returns, one after
// the other, are the document: Begin, each segment, End. A piece may be empty.
//
// It is given every final segment exactly once, in order, whether the worker streamed it or only
// had it in its final answer; and partial ones if the user asked for them. Threads: one.
class TranscriptFormat {
 public:
  virtual ~TranscriptFormat() = default;

  virtual std::string Begin() { return ""; }

  // `since_start`: when it came, from the moment at which the request was sent.
  virtual std::string Segment(const linkw::TranscribeSegment& segment,
                              absl::Duration since_start) = 0;

  virtual std::string End(const TranscriptionOutcome& outcome) = 0;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_TRANSCRIPT_FORMAT_H_
