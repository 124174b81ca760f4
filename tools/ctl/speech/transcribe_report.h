#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIBE_REPORT_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIBE_REPORT_H_

#include <string>

#include "tools/ctl/base/exit_code.h"
#include "tools/ctl/base/stop_watcher.h"
#include "tools/ctl/formats/transcript_format.h"

// What `transcribe` says and returns at its end. Pure functions.
namespace superfluid::ctl {

// `reason`: why we cancelled, if we did.
ExitCode TranscribeExitCode(StopReason reason, linkw::Status status);

// The line for stderr: that it was cancelled and how fast, what went wrong, or what the worker
// remarked on the audio. Empty if there is nothing to say.
std::string ClosingLine(StopReason reason, const TranscriptionOutcome& outcome);

// For a transcript that went into a file: "talk.srt: 12 segments, ...".
std::string SummaryLine(const std::string& path, const TranscriptionOutcome& outcome);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIBE_REPORT_H_
