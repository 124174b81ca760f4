#include "tools/ctl/commands/restore_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/generation/generation_loop.h"
#include "tools/ctl/generation/generation_printer.h"
#include "tools/ctl/generation/generation_report.h"
#include "tools/ctl/generation/sampling_options.h"
#include "tools/ctl/generation/tick_session.h"
#include "tools/ctl/state/snapshot_file.h"
#include "tools/ctl/state/snapshot_text.h"
#include "tools/ctl/state/state_transfer.h"
#include "tools/ctl/terminal/interruption.h"

namespace superfluid::ctl {
namespace {

constexpr uint32_t kMaxTokens = 1u << 24;

constexpr char kFooter[] =
    "Examples:\n"
    "  superfluidctl restore talk.sfl --max-tokens 50\n"
    "  superfluidctl restore talk.sfl --show           # needs no worker\n"
    "\n"
    "Makes a new sequence, puts the state of FILE into it and goes on drawing: with the same\n"
    "sampling options it draws what the run that made the snapshot would have drawn next. The\n"
    "worker may be another one; its engine must have the same model. Tokens are printed as bytes "
    "if\n"
    "they were given as text. FILE is checked here and by the worker before anything is used.\n";

struct RestoreOptions {
  std::string file;
  SamplingOptions sampling;
  uint32_t max_tokens = 64;
  bool show = false;
  bool no_stream = false;
  bool json = false;
};

// One run of the command. The steps are in the order in which they are called.
class RestoreRun {
 public:
  RestoreRun(const RestoreOptions& options, const CommandContext& context)
      : options_(options),
        context_(context),
        interruption_({.after = std::nullopt, .output_fd = context.console.out->fd()}) {}

  ExitCode Run() {
    if (std::optional<Failure> failure = ReadFile()) return context_.Fail(*failure);
    if (options_.show) return Show();
    // What the state does not have is fed again.
    const SnapshotDirectory& directory = file_->directory();
    const Prompt tail = {
        .tokens = {directory.tokens.begin() + static_cast<int64_t>(directory.position),
                   directory.tokens.end()},
        .is_text = directory.tokens_are_bytes};
    auto opened = OpenTickSession(context_.global, tail, /*lanes=*/1);
    if (const auto* failure = std::get_if<Failure>(&opened)) return context_.Fail(*failure);
    session_ = std::move(std::get<TickSession>(opened));
    if (std::optional<Failure> failure = CheckWorker(session_.client->hello_ack())) {
      return context_.Fail(*failure);
    }
    absl::StatusOr<linkw::SequenceId> sequence = Restore();
    if (!sequence.ok()) return FailCall(sequence.status());
    return Generate(*sequence, tail);
  }

 private:
  std::optional<Failure> ReadFile() {
    absl::StatusOr<SnapshotFile> file = SnapshotFile::Open(options_.file);
    if (!file.ok()) return LocalFailure(file.status());
    file_.emplace(*std::move(file));
    for (size_t i = 0; i < file_->directory().spaces.size(); ++i) {
      absl::StatusOr<linkw::StateEnvelope> envelope = file_->CheckState(i);
      if (!envelope.ok()) return LocalFailure(envelope.status());
      envelopes_.push_back(*std::move(envelope));
    }
    return std::nullopt;
  }

  ExitCode Show() const {
    const SnapshotDirectory& directory = file_->directory();
    return context_.Print(options_.json
                              ? JsonLine(SnapshotDetailsJson(options_.file, directory, envelopes_))
                              : SnapshotDetails(options_.file, directory, envelopes_));
  }

  // The worker finds this too, but cannot say it as well.
  std::optional<Failure> CheckWorker(const linkw::HelloAck& hello) const {
    const auto& spaces = hello.state_space_descriptors;
    for (const linkw::StateEnvelope& envelope : envelopes_) {
      const auto space = std::find_if(spaces.begin(), spaces.end(), [&](const auto& candidate) {
        return candidate.space_id == envelope.space_id;
      });
      if (space == spaces.end() || space->compat_key != envelope.compat_key) {
        return Failure{.code = ExitCode::kFailed,
                       .what = absl::StrCat(options_.file,
                                            " was made by another model: its state "
                                            "does not fit this worker's engine"),
                       .advice = "start a worker with the engine, model and adapter it came from"};
      }
    }
    if (envelopes_.size() == spaces.size()) return std::nullopt;
    return Failure{
        .code = ExitCode::kFailed,
        .what = absl::StrCat(options_.file, " has ", CountText(envelopes_.size(), "state space"),
                             ", this worker's engine has ", spaces.size()),
        .advice = ""};
  }

  absl::StatusOr<linkw::SequenceId> Restore() {
    absl::StatusOr<StateTransfer> transfer =
        StateTransfer::Open(*session_.client, interruption_, context_.global.timeout);
    if (!transfer.ok()) return transfer.status();
    transfer_.emplace(*std::move(transfer));
    absl::StatusOr<linkw::SequenceId> sequence = transfer_->CreateSequence();
    if (!sequence.ok()) return sequence;
    for (size_t i = 0; i < file_->directory().spaces.size(); ++i) {
      absl::Status status = transfer_->Load(*file_, i, *sequence);
      if (!status.ok()) return status;
    }
    return sequence;
  }

  ExitCode FailCall(const absl::Status& status) const {
    if (interruption_.stopped()) return StopExitCode(interruption_.reason());
    return context_.Fail(CallFailure(options_.file, status));
  }

  ExitCode Generate(linkw::SequenceId sequence, const Prompt& tail) {
    GenerationPrinter printer(
        {.json = options_.json, .stream = !options_.no_stream, .as_text = tail.is_text},
        /*lanes=*/1, context_.console.out,
        [this](const absl::Status& status) { interruption_.Fail(status); });
    GenerationLoop loop(*session_.client, *session_.rings,
                        {.prompt = tail.tokens,
                         .lanes = 1,
                         .sequence = sequence,
                         .max_tokens = options_.max_tokens,
                         .tokens_per_tick = options_.sampling.tokens_per_tick,
                         .sampling = options_.sampling.sampling,
                         .stop_tokens = options_.sampling.stop_tokens,
                         .grammar = {},
                         .want_logits = false},
                        context_.global.timeout, printer);
    GenerationOutcome outcome;
    {
      const Interruption::Stage stage(interruption_, [&loop] { loop.Stop(); });
      outcome = loop.Run();
    }
    printer.OnEnd(outcome);
    const GenerationEnd end =
        EndOfGeneration("restore", interruption_.reason(), interruption_.local_failure(), outcome,
                        /*summary=*/!options_.json);
    if (!end.text.empty()) context_.console.err->Write(end.text).IgnoreError();
    return end.code;
  }

  const RestoreOptions& options_;
  const CommandContext& context_;
  Interruption interruption_;
  std::optional<SnapshotFile> file_;
  std::vector<linkw::StateEnvelope> envelopes_;
  TickSession session_;
  std::optional<StateTransfer> transfer_;  // holds the fds connection as long as the link lives
};

void AddOptions(CLI::App& app, RestoreOptions& options) {
  app.add_option("FILE", options.file, "What 'superfluidctl snapshot' wrote")->required();
  AddSamplingOptions(app, options.sampling);
  app.add_option("--max-tokens", options.max_tokens, "Tokens to draw, at most; 0: only restore")
      ->check(CLI::Range(uint32_t{0}, kMaxTokens))
      ->capture_default_str();
  app.add_flag("--show", options.show, "Check FILE and print what is in it; needs no worker");
  app.add_flag("--no-stream", options.no_stream, "All at the end");
  app.add_flag("--json", options.json,
               "Print JSON, an object a line as tokens come; the last one is the result");
  app.footer(kFooter);
}

}  // namespace

CommandBody DefineRestore(CLI::App& app) {
  auto options = std::make_shared<RestoreOptions>();
  AddOptions(app, *options);
  return [options](const CommandContext& context) {
    if (const absl::Status status = CheckSamplingOptions(options->sampling); !status.ok()) {
      return context.Fail(UsageFailure(std::string(status.message())));
    }
    return RestoreRun(*options, context).Run();
  };
}

}  // namespace superfluid::ctl
