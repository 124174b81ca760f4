#include "tools/ctl/commands/generate_command.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "protocol/driver/expect_reply.h"
#include "tools/ctl/base/patience.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/generation/generation_loop.h"
#include "tools/ctl/generation/generation_printer.h"
#include "tools/ctl/generation/generation_report.h"
#include "tools/ctl/generation/prompt.h"
#include "tools/ctl/generation/sampling_options.h"
#include "tools/ctl/generation/tick_session.h"
#include "tools/ctl/terminal/interruption.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kMaxLanes = 256;
constexpr size_t kMaxLogitLanes = 32;  // of a tick that want logits
constexpr uint32_t kMaxTokens = 1u << 24;

constexpr char kFooter[] =
    "Examples:\n"
    "  superfluidctl generate 1 2 3 --max-tokens 100\n"
    "  superfluidctl generate --text 'Once upon a time' --temperature 0.8 --seed 7\n"
    "  superfluidctl generate --text '{' --json-schema person.json --json --no-stream\n"
    "\n"
    "TOKENS are ids of the engine's vocabulary. --text and --file send bytes as tokens, and print\n"
    "tokens as bytes; that works with engines whose capabilities say \"byte_tokens\": true, or "
    "say\n"
    "nothing of it and have a \"vocab_size\" of 256 to 1023. For others the tokenizer is the "
    "daemon's.\n"
    "\n"
    "A sequence cannot be kept for a later run: it belongs to the link that made it and goes with\n"
    "it. 'superfluidctl snapshot' writes its state to a file, 'superfluidctl restore' goes on.\n"
    "\n"
    "Ctrl-C sets the lanes' stop bits: the worker stops within a micro-step, what it drew by then\n"
    "is printed, and how long it took. Ctrl-C once more does not wait for the worker.\n";

struct GenerateOptions {
  PromptOptions prompt;
  SamplingOptions sampling;
  uint32_t max_tokens = 64;
  size_t lanes = 1;
  std::string json_schema;
  bool logits = false;
  bool no_stream = false;
  bool json = false;
  std::optional<uint32_t> cancel_after_ms;
};

absl::Status Check(const GenerateOptions& options) {
  if (options.logits && options.lanes > kMaxLogitLanes) {
    return absl::InvalidArgumentError("--logits works with at most 32 --lanes");
  }
  return CheckSamplingOptions(options.sampling);
}

// One run of the command. The steps are in the order in which they are called.
class GenerateRun {
 public:
  GenerateRun(const GenerateOptions& options, const CommandContext& context)
      : options_(options), context_(context) {}

  ExitCode Run() {
    if (std::optional<Failure> failure = ReadFiles()) return context_.Fail(*failure);
    auto opened = OpenTickSession(context_.global, prompt_, options_.lanes);
    if (const auto* failure = std::get_if<Failure>(&opened)) return context_.Fail(*failure);
    const auto session = std::move(std::get<TickSession>(opened));
    const absl::StatusOr<linkw::GrammarHandle> grammar = MakeGrammar(*session.client);
    if (!grammar.ok()) return context_.Fail(CallFailure(options_.json_schema, grammar.status()));
    return Generate(session, *grammar);
  }

 private:
  std::optional<Failure> ReadFiles() {
    absl::StatusOr<Prompt> prompt = ReadPrompt(options_.prompt, "TOKENS", context_.console.in_fd);
    if (absl::IsInvalidArgument(prompt.status())) {
      return UsageFailure(std::string(prompt.status().message()));
    }
    if (!prompt.ok()) return LocalFailure(prompt.status());
    prompt_ = *std::move(prompt);
    if (options_.json_schema.empty()) return std::nullopt;
    absl::StatusOr<std::string> schema = ReadTextFile(options_.json_schema, context_.console.in_fd);
    if (!schema.ok()) return LocalFailure(schema.status());
    schema_ = *std::move(schema);
    return std::nullopt;
  }

  absl::StatusOr<linkw::GrammarHandle> MakeGrammar(linkw::LinkClient& client) const {
    if (options_.json_schema.empty()) return linkw::GrammarHandle{};
    const auto result = linkw::ExpectResult<linkw::CreateGrammarResult>(
        Patience(client, context_.global.timeout)
            .Call(linkw::CreateGrammar{.json_schema = schema_}, "the grammar"));
    if (!result.ok()) return result.status();
    return result->grammar_handle;
  }

  GenerationPlan MakePlan(linkw::GrammarHandle grammar) const {
    return {.prompt = prompt_.tokens,
            .lanes = options_.lanes,
            .sequence = {},
            .max_tokens = options_.max_tokens,
            .tokens_per_tick = options_.sampling.tokens_per_tick,
            .sampling = options_.sampling.sampling,
            .stop_tokens = options_.sampling.stop_tokens,
            .grammar = grammar,
            .want_logits = options_.logits};
  }

  ExitCode Generate(const TickSession& session, linkw::GrammarHandle grammar) const {
    StopWatcher::Options watch = {.after = std::nullopt, .output_fd = context_.console.out->fd()};
    if (options_.cancel_after_ms.has_value()) {
      watch.after = absl::Milliseconds(*options_.cancel_after_ms);
    }
    Interruption interruption(watch);
    GenerationPrinter printer(
        {.json = options_.json, .stream = !options_.no_stream, .as_text = prompt_.is_text},
        options_.lanes, context_.console.out,
        [&interruption](const absl::Status& status) { interruption.Fail(status); });
    GenerationLoop loop(*session.client, *session.rings, MakePlan(grammar), context_.global.timeout,
                        printer);
    GenerationOutcome outcome;
    {
      const Interruption::Stage stage(interruption, [&loop] { loop.Stop(); });
      outcome = loop.Run();
    }
    printer.OnEnd(outcome);
    const GenerationEnd end =
        EndOfGeneration("generate", interruption.reason(), interruption.local_failure(), outcome,
                        /*summary=*/!options_.json);
    if (!end.text.empty()) context_.console.err->Write(end.text).IgnoreError();
    return end.code;
  }

  const GenerateOptions& options_;
  const CommandContext& context_;
  Prompt prompt_;
  std::string schema_;
};

void AddOptions(CLI::App& app, GenerateOptions& options) {
  app.add_option("TOKENS", options.prompt.tokens, "Token ids, with spaces or commas between")
      ->check(NotNegative())
      ->delimiter(',')
      ->group("Prompt");
  AddPromptOptions(app, options.prompt);
  AddSamplingOptions(app, options.sampling);
  app.add_option("--max-tokens", options.max_tokens, "Tokens to draw in each lane, at most")
      ->check(CLI::Range(uint32_t{1}, kMaxTokens))
      ->capture_default_str();
  app.add_option("--lanes", options.lanes,
                 "The same prompt in so many lanes; each draws with the seed plus its number")
      ->check(CLI::Range(size_t{1}, kMaxLanes))
      ->capture_default_str();
  app.add_option("--json-schema", options.json_schema,
                 "What is drawn is JSON that this file's schema allows");
  app.add_flag("--logits", options.logits,
               "After each tick the most likely next tokens, before sampling");
  app.add_flag("--no-stream", options.no_stream, "All at the end");
  app.add_flag("--json", options.json,
               "Print JSON, an object a line as tokens come; the last one is the result");
  AddMsOption(app, "--cancel-after", "Stop after this time, as Ctrl-C", {.min = 0},
              [&options](uint32_t ms) { options.cancel_after_ms = ms; });
  app.footer(kFooter);
}

}  // namespace

CommandBody DefineGenerate(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  AddOptions(app, *options);
  return [options](const CommandContext& context) {
    if (const absl::Status status = Check(*options); !status.ok()) {
      return context.Fail(UsageFailure(std::string(status.message())));
    }
    return GenerateRun(*options, context).Run();
  };
}

}  // namespace superfluid::ctl
