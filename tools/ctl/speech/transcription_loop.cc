#include "tools/ctl/speech/transcription_loop.h"

#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/speech/live_feeder.h"

namespace superfluid::ctl {
namespace {

// How often the progress bar moves, and patience is looked at.
constexpr absl::Duration kTick = absl::Milliseconds(200);

}  // namespace

TranscriptionLoop::TranscriptionLoop(LoopOptions options, linkw::TranscriptionStream& stream,
                                     TranscriptPrinter& printer, PcmReader* live)
    : options_(std::move(options)),
      stream_(stream),
      printer_(printer),
      live_(live),
      watcher_({.after = options_.cancel_after, .output_fd = options_.output_fd},
               [this](StopReason) { stream_.Cancel().IgnoreError(); }) {}

TranscriptionOutcome TranscriptionLoop::Run() {
  NoteWrite(printer_.Begin());
  std::optional<LiveFeeder> feeder;
  if (live_ != nullptr) {
    feeder.emplace(
        *live_, options_.live_speed,
        [this](std::string samples, bool end) {
          return stream_.PushAudio(std::move(samples), end);
        },
        [this] { return absl::Milliseconds(stream_.audio_ms()); },
        [this](const absl::Status& status) { FailLocally(status); });
  }
  return WaitForEnd();
}

TranscriptionOutcome TranscriptionLoop::WaitForEnd() {
  while (true) {
    absl::StatusOr<linkw::TranscriptionStream::Event> event =
        stream_.Next(linkw::Deadline::After(kTick));
    if (event.ok()) {
      if (auto* answer = std::get_if<linkw::StateSyncResult>(&*event)) {
        return Answered(std::move(*answer));
      }
      NoteWrite(printer_.OnSegment(std::get<linkw::TranscribeSegment>(*event), since_start()));
      continue;
    }
    if (!absl::IsDeadlineExceeded(event.status())) {
      return Unanswered(linkw::FromAbsl(event.status()), std::string(event.status().message()));
    }
    if (std::optional<std::string> why = OutOfPatience(); why.has_value()) {
      return Unanswered(linkw::Status::kDeadlineExceeded, *why);
    }
    printer_.OnIdle(since_start(), stream_.audio_ms());
  }
}

absl::Status TranscriptionLoop::local_failure() const {
  const std::lock_guard lock(mutex_);
  return local_failure_;
}

void TranscriptionLoop::NoteWrite(const absl::Status& status) {
  if (status.ok()) return;
  if (absl::IsAborted(status)) {
    watcher_.Stop(StopReason::kOutputClosed);
  } else {
    FailLocally(status);
  }
}

void TranscriptionLoop::FailLocally(const absl::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (local_failure_.ok()) local_failure_ = status;
  }
  watcher_.Stop(StopReason::kLocalFailure);
}

absl::Duration TranscriptionLoop::since_start() const {
  return MonotonicNow() - options_.started_at;
}

std::optional<std::string> TranscriptionLoop::OutOfPatience() const {
  const std::string patience = DurationText(options_.patience);
  if (watcher_.since_stop().value_or(absl::ZeroDuration()) > options_.patience) {
    return absl::StrCat("the worker did not answer the cancel within ", patience);
  }
  if (since_start() > options_.deadline + options_.patience) {
    return absl::StrCat("the worker did not answer within ", patience, " after the deadline");
  }
  return std::nullopt;
}

TranscriptionOutcome TranscriptionLoop::Answered(linkw::StateSyncResult answer) const {
  TranscriptionOutcome outcome = Unanswered(answer.status, answer.message);
  if (auto* result = std::get_if<linkw::TranscribeResult>(&answer.reply)) {
    outcome.result = std::move(*result);
  }
  return outcome;
}

TranscriptionOutcome TranscriptionLoop::Unanswered(linkw::Status status,
                                                   const std::string& message) const {
  return {.file = options_.file,
          .status = status,
          .message = message,
          .result = printer_.ResultSoFar(),
          .figures = Figures()};
}

ClientFigures TranscriptionLoop::Figures() const {
  return {.elapsed = since_start(),
          .first_segment = printer_.first_segment(),
          .cancel = watcher_.since_stop()};
}

}  // namespace superfluid::ctl
