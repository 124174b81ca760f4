#include "tools/ctl/commands/snapshot_command.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/formats/plain_text.h"
#include "tools/ctl/generation/generation_loop.h"
#include "tools/ctl/generation/generation_report.h"
#include "tools/ctl/generation/prompt.h"
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
    "  superfluidctl snapshot talk.sfl --text 'Once upon a time'\n"
    "  superfluidctl snapshot talk.sfl --prompt 1,2,3 --max-tokens 100 --seed 7\n"
    "  superfluidctl restore talk.sfl --max-tokens 50 --seed 7\n"
    "\n"
    "Feeds a prompt to a new sequence, draws tokens if --max-tokens says so, and writes the\n"
    "sequence's state to FILE: its tokens, and the sealed bytes of every state space. 'restore'\n"
    "goes on from there, in a worker with the same model, though this one has been restarted.\n"
    "FILE is complete or not there: it is synced, read back and checked before it gets its name.\n"
    "\n"
    "'snapshot SEQ FILE', for a sequence that exists, is not offered: a sequence belongs to the\n"
    "link that made it, other links do not see it, and it is gone when that link ends. The link "
    "of\n"
    "this program is as old as this command, so it has no sequence but the one made here. A "
    "daemon\n"
    "that holds the link takes snapshots of its sequences with STATE_OP_SUBMIT.\n";

struct SnapshotOptions {
  std::vector<std::string> files;
  PromptOptions prompt;
  SamplingOptions sampling;
  uint32_t max_tokens = 0;
  bool force = false;
  bool json = false;
};

// Nothing is printed as it is drawn.
class SilentListener : public GenerationListener {
 public:
  void OnTokens(size_t /*lane*/, uint64_t /*index*/,
                absl::Span<const linkw::Token> /*tokens*/) override {}
  void OnLogits(size_t /*lane*/, uint64_t /*position*/,
                absl::Span<const linkw::TokenLogit> /*logits*/) override {}
};

absl::Status Check(const SnapshotOptions& options) {
  if (options.files.size() > 1) {
    return absl::InvalidArgumentError(
        "one FILE is wanted: a sequence of another link cannot be named here, since a sequence "
        "belongs to the link that made it");
  }
  if (options.files.front().empty()) return absl::InvalidArgumentError("FILE is empty");
  return CheckSamplingOptions(options.sampling);
}

// One run of the command. The steps are in the order in which they are called.
class SnapshotRun {
 public:
  SnapshotRun(const SnapshotOptions& options, const CommandContext& context)
      : options_(options),
        context_(context),
        path_(options.files.front()),
        interruption_({.after = std::nullopt, .output_fd = -1}) {}

  ExitCode Run() {
    if (const absl::Status status = CheckSnapshotTarget(path_, options_.force); !status.ok()) {
      return FailFile(status);
    }
    absl::StatusOr<Prompt> prompt = ReadPrompt(options_.prompt, "--prompt", context_.console.in_fd);
    if (absl::IsInvalidArgument(prompt.status())) {
      return context_.Fail(UsageFailure(std::string(prompt.status().message())));
    }
    if (!prompt.ok()) return context_.Fail(LocalFailure(prompt.status()));
    prompt_ = *std::move(prompt);
    auto opened = OpenTickSession(context_.global, prompt_, /*lanes=*/1);
    if (const auto* failure = std::get_if<Failure>(&opened)) return context_.Fail(*failure);
    session_ = std::move(std::get<TickSession>(opened));
    if (session_.client->hello_ack().state_space_descriptors.empty()) {
      return context_.Fail({.code = ExitCode::kFailed,
                            .what = "this engine has no state that can be saved",
                            .advice = ""});
    }
    const GenerationOutcome outcome = Generate();
    const GenerationEnd end = EndOfGeneration("snapshot", interruption_.reason(), absl::OkStatus(),
                                              outcome, /*summary=*/false);
    if (end.code != ExitCode::kOk) return Stop(end);
    return Save(outcome);
  }

 private:
  ExitCode FailFile(const absl::Status& status) const {
    Failure failure = LocalFailure(status);
    if (absl::IsAlreadyExists(status)) failure.advice = "--force replaces it";
    return context_.Fail(failure);
  }

  ExitCode Stop(const GenerationEnd& end) const {
    context_.console.err->Write(end.text).IgnoreError();
    return end.code;
  }

  GenerationOutcome Generate() {
    SilentListener listener;
    GenerationLoop loop(*session_.client, *session_.rings,
                        {.prompt = prompt_.tokens,
                         .lanes = 1,
                         .sequence = {},
                         .max_tokens = options_.max_tokens,
                         .tokens_per_tick = options_.sampling.tokens_per_tick,
                         .sampling = options_.sampling.sampling,
                         .stop_tokens = options_.sampling.stop_tokens,
                         .grammar = {},
                         .want_logits = false},
                        context_.global.timeout, listener);
    const Interruption::Stage stage(interruption_, [&loop] { loop.Stop(); });
    return loop.Run();
  }

  SnapshotDirectory MakeDirectory(const GenerationOutcome& outcome, uint64_t position) const {
    SnapshotDirectory directory;
    directory.tokens_are_bytes = prompt_.is_text;
    directory.bundle_hash = session_.client->hello_ack().engine_bundle_hash;
    directory.position = position;
    directory.tokens = prompt_.tokens;
    const std::vector<linkw::Token>& drawn = outcome.lanes.front().tokens;
    directory.tokens.insert(directory.tokens.end(), drawn.begin(), drawn.end());
    return directory;
  }

  ExitCode Save(const GenerationOutcome& outcome) {
    const LaneOutcome& lane = outcome.lanes.front();
    absl::StatusOr<StateTransfer> transfer =
        StateTransfer::Open(*session_.client, interruption_, context_.global.timeout);
    if (!transfer.ok()) return FailCall(transfer.status());
    const absl::StatusOr<uint64_t> position =
        transfer->CommonBoundary(lane.sequence, lane.position);
    if (!position.ok()) return FailCall(position.status());
    SnapshotDirectory directory = MakeDirectory(outcome, *position);
    std::vector<StateTransfer::Saved> saved;
    for (const linkw::StateSpaceDescriptor& space :
         session_.client->hello_ack().state_space_descriptors) {
      absl::StatusOr<StateTransfer::Saved> state =
          transfer->Save(lane.sequence, space.space_id, *position);
      if (!state.ok()) return FailCall(state.status());
      directory.spaces.push_back({space.space_id, state->sealed_bytes});
      saved.push_back(*std::move(state));
    }
    return Write(directory, saved);
  }

  ExitCode FailCall(const absl::Status& status) const {
    if (interruption_.stopped()) {
      return Stop({StopExitCode(interruption_.reason()), "stopped: nothing was written\n"});
    }
    return context_.Fail(CallFailure("snapshot", status));
  }

  ExitCode Write(const SnapshotDirectory& directory,
                 const std::vector<StateTransfer::Saved>& saved) const {
    std::vector<absl::Span<const std::byte>> states;
    states.reserve(saved.size());
    for (const StateTransfer::Saved& state : saved) {
      states.emplace_back(state.buffer.bytes().first(state.sealed_bytes));
    }
    const absl::Status status = WriteSnapshotFile(path_, options_.force, directory, states);
    if (absl::IsAlreadyExists(status) || absl::IsFailedPrecondition(status)) {
      return WriteAside(status, directory, states);
    }
    if (!status.ok()) return FailFile(status);
    return context_.Print(options_.json ? JsonLine(SnapshotJson(path_, directory))
                                        : SnapshotLine(path_, directory));
  }

  // Somebody took the place of FILE meanwhile, and the sequence goes with the link.
  ExitCode WriteAside(const absl::Status& taken, const SnapshotDirectory& directory,
                      const std::vector<absl::Span<const std::byte>>& states) const {
    const std::string aside = absl::StrCat(path_, ".", getpid(), ".aside");
    const absl::Status status = WriteSnapshotFile(aside, /*force=*/false, directory, states);
    if (!status.ok()) return FailFile(status);
    return FailFile(absl::Status(taken.code(), absl::StrCat(std::string(taken.message()),
                                                            "; the whole snapshot is in ", aside)));
  }

  const SnapshotOptions& options_;
  const CommandContext& context_;
  const std::string path_;
  Interruption interruption_;
  Prompt prompt_;
  TickSession session_;
};

void AddOptions(CLI::App& app, SnapshotOptions& options) {
  app.add_option("FILE", options.files, "Where to write the snapshot")->required();
  app.add_option("--prompt", options.prompt.tokens, "Token ids with commas between: 1,2,3")
      ->expected(1)
      ->check(NotNegative())
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Prompt");
  AddPromptOptions(app, options.prompt);
  AddSamplingOptions(app, options.sampling);
  app.add_option("--max-tokens", options.max_tokens, "Tokens to draw before the snapshot, at most")
      ->check(CLI::Range(uint32_t{0}, kMaxTokens))
      ->capture_default_str();
  app.add_flag("--force", options.force, "Replace FILE if it exists and is a regular file");
  app.add_flag("--json", options.json, "Print one JSON object");
  app.footer(kFooter);
}

}  // namespace

CommandBody DefineSnapshot(CLI::App& app) {
  auto options = std::make_shared<SnapshotOptions>();
  AddOptions(app, *options);
  return [options](const CommandContext& context) {
    if (const absl::Status status = Check(*options); !status.ok()) {
      return context.Fail(UsageFailure(std::string(status.message())));
    }
    return SnapshotRun(*options, context).Run();
  };
}

}  // namespace superfluid::ctl
