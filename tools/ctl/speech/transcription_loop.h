#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIPTION_LOOP_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIPTION_LOOP_H_

#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "protocol/client/transcription_stream.h"
#include "tools/ctl/base/stop_watcher.h"
#include "tools/ctl/speech/pcm_reader.h"
#include "tools/ctl/speech/transcript_printer.h"

namespace superfluid::ctl {

struct LoopOptions {
  std::string file;           // for the outcome
  absl::Duration started_at;  // when the request was sent, on the monotonic clock
  std::optional<absl::Duration> cancel_after;
  absl::Duration deadline = absl::InfiniteDuration();  // the worker's, from the start
  // How long the worker may take to answer a cancel, or beyond its deadline.
  absl::Duration patience = absl::Seconds(10);
  int output_fd = -1;  // watched for its reader's end
  double live_speed = 0;
};

// Takes a transcription from its request to its final answer: prints what comes, feeds live audio,
// cancels it when there is a reason to (see StopWatcher) and then waits for the answer.
//
// Threads: Run on one; cancels and live audio go out from threads of its own. Lifetime: everything
// given to it must outlive it.
class TranscriptionLoop {
 public:
  // `live`: the samples to send; null if the audio is not live.
  TranscriptionLoop(LoopOptions options, linkw::TranscriptionStream& stream,
                    TranscriptPrinter& printer, PcmReader* live);

  // To the end. The outcome is not printed. If the worker does not answer in time it has
  // kDeadlineExceeded, if the link is lost kLinkClosed.
  TranscriptionOutcome Run();

  StopReason stop_reason() const { return watcher_.reason(); }
  // What a local file did, if that was why it was stopped (StopReason::kLocalFailure).
  absl::Status local_failure() const;
  // A write that failed: stops the transcription. OK: nothing.
  void NoteWrite(const absl::Status& status);

 private:
  absl::Duration since_start() const;
  TranscriptionOutcome WaitForEnd();
  void FailLocally(const absl::Status& status);
  std::optional<std::string> OutOfPatience() const;
  TranscriptionOutcome Answered(linkw::StateSyncResult answer) const;
  TranscriptionOutcome Unanswered(linkw::Status status, const std::string& message) const;
  ClientFigures Figures() const;

  const LoopOptions options_;
  linkw::TranscriptionStream& stream_;
  TranscriptPrinter& printer_;
  PcmReader* live_;
  mutable std::mutex mutex_;
  absl::Status local_failure_;  // guarded by mutex_
  StopWatcher watcher_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_TRANSCRIPTION_LOOP_H_
