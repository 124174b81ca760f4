#include "engine/sim/sim_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/options/option_kinds.h"

namespace superfluid {
namespace {

using Options = SimOptions;

constexpr int64_t kMaxStep = 1'000'000'000;
constexpr absl::string_view kPrefix = "sim:";
constexpr int64_t kHourMs = 3'600'000;

constexpr std::array<absl::string_view, 6> kKinds = {"too_many_tokens", "bad_token",
                                                     "zero_handle",     "wrong_sequence",
                                                     "too_many_logits", "lane_count"};

bool IsKind(absl::string_view text) {
  return std::find(kKinds.begin(), kKinds.end(), text) != kKinds.end();
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a lambda a row says less
#define FIELD(field) \
  [](Options & o) -> auto& { return field; }

Option<Options> Script() {
  const OptionRow row = {.name = "script",
                         .kind = "text",
                         .range = "",
                         .initial = "",
                         .help =
                             "texts of the segments, joined by '|', repeated; none: from the "
                             "audio"};
  return {row, [](absl::string_view value, Options& options) {
            options.script.clear();
            if (!value.empty()) options.script = absl::StrSplit(value, '|');
            return absl::OkStatus();
          }};
}

// Those that a prompt may set for one transcription.
std::vector<Option<Options>> JobOptions() {
  return {
      WholeOption<Options>("segments", 0, 1'000'000, FIELD(o.segments),
                           "end after so many; 0: as many as the audio has"),
      WholeOption<Options>("segment_ms", 10, 60'000, FIELD(o.segment_ms), "audio of one segment"),
      WholeOption<Options>("steps_per_segment", 1, 60'000, FIELD(o.steps_per_segment),
                           "equal slices of a segment's audio, no more than segment_ms"),
      DurationOption<Options>("step_us", "microseconds", absl::Microseconds(1), 0, 60'000'000,
                              FIELD(o.step), "time of one step"),
      WholeOption<Options>("words", 0, 1000, FIELD(o.words), "of a segment"),
      SwitchOption<Options>("partials", FIELD(o.partials),
                            "a partial segment each step, if the request wants them"),
      Script(),
      WholeOption<Options>("stuck_at_step", 0, kMaxStep, FIELD(o.faults.stuck_at_step),
                           "a step that hangs, deaf to cancels (steps count from 1; 0: none)"),
      DurationOption<Options>("stuck_ms", "milliseconds", absl::Milliseconds(1), 0, kHourMs,
                              FIELD(o.faults.stuck), "how long it hangs"),
      WholeOption<Options>("slow_at_step", 0, kMaxStep, FIELD(o.faults.slow_at_step),
                           "a step that takes longer"),
      DurationOption<Options>("slow_us", "microseconds", absl::Microseconds(1), 0, kHourMs * 1000,
                              FIELD(o.faults.slow), "how long it takes"),
      WholeOption<Options>("crash_at_step", 0, kMaxStep, FIELD(o.faults.crash_at_step),
                           "a step that ends the process"),
      WholeOption<Options>("fail_at_step", 0, kMaxStep, FIELD(o.faults.fail_at_step),
                           "a step that fails"),
      WholeOption<Options>("throw_at_step", 0, kMaxStep, FIELD(o.faults.throw_at_step),
                           "a step that throws"),
      WholeOption<Options>("out_of_memory_at_step", 0, kMaxStep,
                           FIELD(o.faults.out_of_memory_at_step), "a step without memory"),
      SwitchOption<Options>("fail_start", FIELD(o.faults.fail_start), "no transcription starts"),
      SwitchOption<Options>("emit_after_cancel", FIELD(o.faults.emit_after_cancel),
                            "a segment follows a cancel"),
      SwitchOption<Options>("backwards_times", FIELD(o.faults.backwards_times),
                            "times run backwards"),
      SwitchOption<Options>("invalid_utf8", FIELD(o.faults.invalid_utf8), "text that is not UTF-8"),
  };
}

std::vector<Option<Options>> AllOptions() {
  std::vector<Option<Options>> options = {
      WholeOption<Options>("max_transcriptions", 1, 100'000, FIELD(o.max_transcriptions),
                           "transcriptions at once"),
      ChoiceOption<Options, SimWork>(
          "work", {{"sleep", SimWork::kSleep}, {"busy", SimWork::kBusy}}, FIELD(o.work),
          "how a step spends its time: giving the core away or keeping it"),
      DurationOption<Options>("load_ms", "milliseconds", absl::Milliseconds(1), 0, kHourMs,
                              FIELD(o.load),
                              "making the engine takes so long, and says how far it is"),
      SwitchOption<Options>("fail_load", FIELD(o.fail_load), "and it fails then"),
      WholeOption<Options>("vocab", 256, 65'536, FIELD(o.generation.vocab), "tokens"),
      WholeOption<Options>("context", 16, 262'144, FIELD(o.generation.context),
                           "tokens of a sequence"),
      WholeOption<Options>("pool_blocks", 1, 1'048'576, FIELD(o.generation.pool_blocks),
                           "of 16 tokens"),
      WholeOption<Options>("max_sequences", 1, 100'000, FIELD(o.generation.max_sequences),
                           "that may exist"),
      WholeOption<Options>("ttl_ms", 1, kHourMs, FIELD(o.generation.ttl_ms), "of a lease"),
      WholeOption<Options>("ttl_ticks", 1, kMaxStep, FIELD(o.generation.ttl_ticks), "of a lease"),
      WholeOption<Options>("op_chunk_bytes", 1, int64_t{1} << 30U,
                           FIELD(o.generation.op_chunk_bytes), "of a state job's step"),
      DurationOption<Options>("op_us", "microseconds", absl::Microseconds(1), 0, kHourMs * 1000,
                              FIELD(o.generation.op), "time of a state job"),
      DurationOption<Options>("tick_us", "microseconds", absl::Microseconds(1), 0, 60'000'000,
                              FIELD(o.generation.tick), "time of a tick"),
      DurationOption<Options>("token_us", "microseconds", absl::Microseconds(1), 0, 60'000'000,
                              FIELD(o.generation.token), "and of each draw"),
      WholeOption<Options>("call_passes", 0, 1'000'000, FIELD(o.generation.call_passes),
                           "of a call that may take long"),
      DurationOption<Options>("call_pass_us", "microseconds", absl::Microseconds(1), 0, 60'000'000,
                              FIELD(o.generation.call_pass), "time of each"),
      WholeOption<Options>("stuck_at_call", 0, kMaxStep, FIELD(o.generation.faults.stuck_at_call),
                           "a call that hangs"),
      WholeOption<Options>("slow_at_tick", 0, kMaxStep, FIELD(o.generation.faults.slow_at_tick),
                           "a tick that takes longer"),
      WholeOption<Options>("stuck_at_tick", 0, kMaxStep, FIELD(o.generation.faults.stuck_at_tick),
                           "a tick that hangs"),
      WholeOption<Options>("fail_at_tick", 0, kMaxStep, FIELD(o.generation.faults.fail_at_tick),
                           "a tick that fails"),
      WholeOption<Options>("throw_at_tick", 0, kMaxStep, FIELD(o.generation.faults.throw_at_tick),
                           "a tick that throws"),
      WholeOption<Options>("out_of_memory_at_tick", 0, kMaxStep,
                           FIELD(o.generation.faults.out_of_memory_at_tick),
                           "a tick without memory"),
      WholeOption<Options>("slow_at_op", 0, kMaxStep, FIELD(o.generation.faults.slow_at_op),
                           "a state job that takes longer"),
      WholeOption<Options>("stuck_at_op", 0, kMaxStep, FIELD(o.generation.faults.stuck_at_op),
                           "one that hangs"),
      WholeOption<Options>("fail_at_op", 0, kMaxStep, FIELD(o.generation.faults.fail_at_op),
                           "one that fails"),
      WholeOption<Options>("throw_at_op", 0, kMaxStep, FIELD(o.generation.faults.throw_at_op),
                           "one that throws"),
      WholeOption<Options>("out_of_memory_at_op", 0, kMaxStep,
                           FIELD(o.generation.faults.out_of_memory_at_op), "one without memory"),
      WholeOption<Options>("wrong_at_tick", 0, kMaxStep, FIELD(o.generation.faults.wrong_at_tick),
                           "a tick with a wrong result"),
      TextOption<Options>("wrong_result", absl::StrCat("one of ", absl::StrJoin(kKinds, ", ")),
                          IsKind, FIELD(o.generation.faults.wrong_result), "of that kind"),
  };
  for (Option<Options>& option : JobOptions()) options.push_back(std::move(option));
  return options;
}

#undef FIELD

const OptionTable<Options>& JobTable() {
  static const auto* const kTable =
      new OptionTable<Options>("sim", JobOptions(), OptionTable<Options>::Repeated::kLastCounts);
  return *kTable;
}

absl::StatusOr<SimOptions> Checked(SimOptions options) {
  if (options.steps_per_segment > options.segment_ms) {
    return absl::InvalidArgumentError(
        absl::StrCat("engine option steps_per_segment=", options.steps_per_segment,
                     ": must not exceed segment_ms, which is ", options.segment_ms));
  }
  return options;
}

}  // namespace

const OptionTable<SimOptions>& SimOptionTable() {
  static const auto* const kTable =
      new OptionTable<Options>("sim", AllOptions(), OptionTable<Options>::Repeated::kLastCounts);
  return *kTable;
}

absl::StatusOr<SimOptions> ParseSimOptions(const EngineConfig& config) {
  absl::StatusOr<SimOptions> options = SimOptionTable().Parse(config.options);
  return options.ok() ? Checked(*std::move(options)) : options;
}

absl::StatusOr<SimOptions> WithSimPrompt(SimOptions base, absl::string_view prompt) {
  for (absl::string_view word : absl::StrSplit(prompt, ' ', absl::SkipEmpty())) {
    if (word.substr(0, kPrefix.size()) != kPrefix) continue;
    word.remove_prefix(kPrefix.size());
    const std::pair<absl::string_view, absl::string_view> option =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (SimOptionTable().Has(option.first) && !JobTable().Has(option.first)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "sim option '", option.first, "' is the engine's and cannot be set by a prompt"));
    }
    absl::Status status = JobTable().Set(option.first, option.second, base);
    if (!status.ok()) return status;
  }
  return Checked(std::move(base));
}

}  // namespace superfluid
