#include "tools/ctl/commands/transcribe_command.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/ctl/base/connect.h"
#include "tools/ctl/base/file_bytes.h"
#include "tools/ctl/base/file_output.h"
#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/base/output.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/speech/audio_input.h"
#include "tools/ctl/speech/transcribe_options.h"
#include "tools/ctl/speech/transcribe_report.h"
#include "tools/ctl/speech/transcription_loop.h"

namespace superfluid::ctl {
namespace {

// What the worker calls the memory that it was sent. The file is named anyhow.
constexpr absl::string_view kBufferPrefix = "\"the buffer\": ";

// One run of the command. The steps are in the order in which they are called.
class TranscribeRun {
 public:
  TranscribeRun(const TranscribeOptions& options, const CommandContext& context)
      : options_(options), context_(context), out_(context.console.out) {}

  ExitCode Run() {
    if (std::optional<Failure> failure = OpenFiles()) return context_.Fail(*failure);
    ConnectResult connected = Connect(context_.global, linkw::Role::kDriver);
    if (const auto* failure = std::get_if<Failure>(&connected)) return context_.Fail(*failure);
    auto client = std::move(std::get<std::unique_ptr<linkw::LinkClient>>(connected));
    const absl::Duration started_at = MonotonicNow();
    if (absl::Status status = Send(*client); !status.ok()) {
      return context_.Fail(CallFailure(options_.file, status));
    }
    return PrintToTheEnd(started_at);
  }

 private:
  std::optional<Failure> OpenFiles() {
    if (std::optional<Failure> failure = OpenOutput()) return failure;
    if (options_.file == "-" && isatty(context_.console.in_fd) != 0) {
      context_.console.err->Write("standard input is a terminal: Ctrl-D ends it\n").IgnoreError();
    }
    absl::StatusOr<AudioInput> audio = AudioInput::Open(options_, context_.console.in_fd);
    if (!audio.ok()) return LocalFailure(audio.status());
    audio_.emplace(*std::move(audio));
    if (!audio_->warning().empty()) {
      context_.console.err->Write(FailureLine({.what = audio_->warning(), .advice = ""}))
          .IgnoreError();
    }
    return std::nullopt;
  }

  std::optional<Failure> OpenOutput() {
    if (options_.output.empty() || options_.output == "-") return std::nullopt;
    if (IsSameFile(options_.output, options_.file, context_.console.in_fd)) {
      return UsageFailure(
          absl::StrCat("--output ", options_.output, " is the recording itself: it would be lost"));
    }
    absl::StatusOr<FileOutput> file = FileOutput::Create(options_.output);
    if (!file.ok()) return LocalFailure(file.status());
    out_file_.emplace(*std::move(file));
    out_ = &*out_file_;
    return std::nullopt;
  }

  absl::Status Send(linkw::LinkClient& client) {
    absl::StatusOr<linkw::AudioSourceSpec> audio = audio_->Offer(client);
    if (!audio.ok()) return audio.status();
    absl::StatusOr<std::unique_ptr<linkw::TranscriptionStream>> stream =
        client.Transcribe(MakeRequest(options_, *std::move(audio)));
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
    return absl::OkStatus();
  }

  LoopOptions MakeLoopOptions(absl::Duration started_at) const {
    LoopOptions loop = {.file = options_.file, .started_at = started_at};
    if (options_.cancel_after_ms.has_value()) {
      loop.cancel_after = absl::Milliseconds(*options_.cancel_after_ms);
    }
    if (options_.deadline_ms > 0) loop.deadline = absl::Milliseconds(options_.deadline_ms);
    loop.patience = context_.global.timeout;
    loop.output_fd = out_->fd();
    loop.live_speed = SpeedOf(options_);
    return loop;
  }

  ExitCode PrintToTheEnd(absl::Duration started_at) {
    TranscriptPrinter printer(MakeFormat(options_), out_,
                              options_.quiet ? nullptr : context_.console.terminal,
                              {.partials_in_bar = KindOf(options_) == TranscriptKind::kHuman});
    TranscriptionLoop loop(MakeLoopOptions(started_at), *stream_, printer, audio_->live());
    TranscriptionOutcome outcome = loop.Run();
    if (outcome.status == linkw::Status::kUnknownHandle) ExplainLostAudio(outcome);
    if (absl::StartsWith(outcome.message, kBufferPrefix)) {
      outcome.message.erase(0, kBufferPrefix.size());
    }
    if (loop.stop_reason() != StopReason::kOutputClosed) loop.NoteWrite(printer.OnEnd(outcome));
    printer.ClearProgress();
    return Close(loop, outcome);
  }

  // The worker does not know our buffer because it refused it before.
  void ExplainLostAudio(TranscriptionOutcome& outcome) const {
    const absl::Status refused = audio_->offer_status();
    if (refused.ok()) return;
    outcome.status = linkw::FromAbsl(refused);
    outcome.message = std::string(refused.message());
  }

  ExitCode Close(const TranscriptionLoop& loop, const TranscriptionOutcome& outcome) {
    const StopReason reason = loop.stop_reason();
    if (reason == StopReason::kLocalFailure) {
      return FailWithText(loop.local_failure());
    }
    std::string text = ClosingLine(reason, outcome);
    if (const std::string change = audio_->Change(); !change.empty()) {
      text += FailureLine({.what = change, .advice = ""});
    }
    if (const std::string note = audio_->note(); !note.empty()) {
      text += FailureLine({.what = note, .advice = ""});
    }
    if (out_file_.has_value()) {
      if (const absl::Status status = FinishOutput(outcome, &text); !status.ok()) {
        return FailWithText(status);
      }
    }
    if (!text.empty()) context_.console.err->Write(text).IgnoreError();
    return TranscribeExitCode(reason, outcome.status);
  }

  // Prints what the file did not take: it may be the only copy.
  ExitCode FailWithText(const absl::Status& status) {
    Failure failure = LocalFailure(status);
    const std::string text = out_file_.has_value() ? out_file_->TakeText() : "";
    if (!text.empty() && context_.console.out->Write(text).ok()) {
      failure.advice = "the text is in standard output";
    }
    return context_.Fail(failure);
  }

  // What came of a transcription without a good end is kept, unless that would cost a file that is
  // there already.
  absl::Status FinishOutput(const TranscriptionOutcome& outcome, std::string* text) {
    if (outcome.status != linkw::Status::kOk) {
      if (out_file_->replaces()) {
        absl::StrAppend(text, OneLine(options_.output), ": left as it was\n");
        return absl::OkStatus();
      }
      if (outcome.result.segments.empty()) return absl::OkStatus();
    }
    if (absl::Status status = out_file_->Commit(); !status.ok()) return status;
    absl::StrAppend(text, SummaryLine(options_.output, outcome));
    return absl::OkStatus();
  }

  const TranscribeOptions& options_;
  const CommandContext& context_;
  std::optional<AudioInput> audio_;
  std::optional<FileOutput> out_file_;
  Output* out_;
  std::unique_ptr<linkw::TranscriptionStream> stream_;
};

}  // namespace

CommandBody DefineTranscribe(CLI::App& app) {
  auto options = std::make_shared<TranscribeOptions>();
  AddTranscribeOptions(app, *options);
  return [options](const CommandContext& context) {
    if (const absl::Status status = CheckTranscribeOptions(*options); !status.ok()) {
      return context.Fail(UsageFailure(std::string(status.message())));
    }
    return TranscribeRun(*options, context).Run();
  };
}

}  // namespace superfluid::ctl
