#include "engine/sim/sim_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace superfluid {
namespace {

constexpr int64_t kMaxStep = 1'000'000'000;
constexpr absl::string_view kPrefix = "sim:";
constexpr int64_t kHourMs = 3'600'000;

absl::Status OutOfRange(absl::string_view key, absl::string_view value, int64_t low, int64_t high) {
  return absl::InvalidArgumentError(absl::StrCat("sim option '", key, "': '", value,
                                                 "' is not a number from ", low, " to ", high));
}

// Reads a whole number within a range.
struct Number {
  absl::string_view key;
  absl::string_view value;

  absl::StatusOr<int64_t> In(int64_t low, int64_t high) const {
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number) || number < low || number > high) {
      return OutOfRange(key, value, low, high);
    }
    return number;
  }
};

using Setter = absl::Status (*)(Number number, SimOptions& options);

template <typename Field>
absl::Status Set(const absl::StatusOr<int64_t>& number, Field& field) {
  if (!number.ok()) return number.status();
  field = static_cast<Field>(*number);
  return absl::OkStatus();
}

absl::Status SetDuration(const absl::StatusOr<int64_t>& number, absl::Duration unit,
                         absl::Duration& field) {
  if (!number.ok()) return number.status();
  field = *number * unit;
  return absl::OkStatus();
}

absl::Status SetWork(Number number, SimOptions& options) {
  if (number.value != "sleep" && number.value != "busy") {
    return absl::InvalidArgumentError("sim option 'work' is 'sleep' or 'busy'");
  }
  options.work = number.value == "busy" ? SimWork::kBusy : SimWork::kSleep;
  return absl::OkStatus();
}

absl::Status SetScript(Number number, SimOptions& options) {
  options.script.clear();
  if (!number.value.empty()) options.script = absl::StrSplit(number.value, '|');
  return absl::OkStatus();
}

constexpr std::array<absl::string_view, 6> kKinds = {"too_many_tokens", "bad_token",
                                                     "zero_handle",     "wrong_sequence",
                                                     "too_many_logits", "lane_count"};

absl::Status SetWrongResult(Number number, SimOptions& options) {
  if (std::find(kKinds.begin(), kKinds.end(), number.value) == kKinds.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sim option 'wrong_result' is one of: ", absl::StrJoin(kKinds, ", ")));
  }
  options.generation.faults.wrong_result = std::string(number.value);
  return absl::OkStatus();
}

struct Option {
  absl::string_view key;
  bool per_job = false;
  Setter set = nullptr;
};

constexpr std::array kOptions = {
    Option{"max_transcriptions", false,
           [](Number n, SimOptions& o) { return Set(n.In(1, 100'000), o.max_transcriptions); }},
    Option{"work", false, &SetWork},
    Option{"load_ms", false, [](Number n, SimOptions& o) { return SetDuration(n.In(0, kHourMs), absl::Milliseconds(1), o.load); }},
    Option{"fail_load", false, [](Number n, SimOptions& o) { return Set(n.In(0, 1), o.fail_load); }},
    Option{"segments", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, 1'000'000), o.segments); }},
    Option{"segment_ms", true,
           [](Number n, SimOptions& o) { return Set(n.In(10, 60'000), o.segment_ms); }},
    Option{"steps_per_segment", true,
           [](Number n, SimOptions& o) { return Set(n.In(1, 60'000), o.steps_per_segment); }},
    Option{"step_us", true,
           [](Number n, SimOptions& o) {
             return SetDuration(n.In(0, 60'000'000), absl::Microseconds(1), o.step);
           }},
    Option{"words", true, [](Number n, SimOptions& o) { return Set(n.In(0, 1000), o.words); }},
    Option{"partials", true, [](Number n, SimOptions& o) { return Set(n.In(0, 1), o.partials); }},
    Option{"script", true, &SetScript},
    Option{"stuck_at_step", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.faults.stuck_at_step); }},
    Option{"stuck_ms", true,
           [](Number n, SimOptions& o) {
             return SetDuration(n.In(0, kHourMs), absl::Milliseconds(1), o.faults.stuck);
           }},
    Option{"slow_at_step", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.faults.slow_at_step); }},
    Option{"slow_us", true,
           [](Number n, SimOptions& o) {
             return SetDuration(n.In(0, kHourMs * 1000), absl::Microseconds(1), o.faults.slow);
           }},
    Option{"crash_at_step", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.faults.crash_at_step); }},
    Option{"fail_at_step", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.faults.fail_at_step); }},
    Option{"throw_at_step", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.faults.throw_at_step); }},
    Option{"out_of_memory_at_step", true,
           [](Number n, SimOptions& o) {
             return Set(n.In(0, kMaxStep), o.faults.out_of_memory_at_step);
           }},
    Option{"fail_start", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, 1), o.faults.fail_start); }},
    Option{"emit_after_cancel", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, 1), o.faults.emit_after_cancel); }},
    Option{"backwards_times", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, 1), o.faults.backwards_times); }},
    Option{"invalid_utf8", true,
           [](Number n, SimOptions& o) { return Set(n.In(0, 1), o.faults.invalid_utf8); }},
    Option{"vocab", false, [](Number n, SimOptions& o) { return Set(n.In(256, 65'536), o.generation.vocab); }},
    Option{"context", false, [](Number n, SimOptions& o) { return Set(n.In(16, 262'144), o.generation.context); }},
    Option{"pool_blocks", false, [](Number n, SimOptions& o) { return Set(n.In(1, 1'048'576), o.generation.pool_blocks); }},
    Option{"max_sequences", false, [](Number n, SimOptions& o) { return Set(n.In(1, 100'000), o.generation.max_sequences); }},
    Option{"ttl_ms", false, [](Number n, SimOptions& o) { return Set(n.In(1, kHourMs), o.generation.ttl_ms); }},
    Option{"ttl_ticks", false, [](Number n, SimOptions& o) { return Set(n.In(1, kMaxStep), o.generation.ttl_ticks); }},
    Option{"op_chunk_bytes", false, [](Number n, SimOptions& o) { return Set(n.In(1, int64_t{1} << 30U), o.generation.op_chunk_bytes); }},
    Option{"op_us", false, [](Number n, SimOptions& o) { return SetDuration(n.In(0, kHourMs * 1000), absl::Microseconds(1), o.generation.op); }},
    Option{"tick_us", false, [](Number n, SimOptions& o) { return SetDuration(n.In(0, 60'000'000), absl::Microseconds(1), o.generation.tick); }},
    Option{"token_us", false, [](Number n, SimOptions& o) { return SetDuration(n.In(0, 60'000'000), absl::Microseconds(1), o.generation.token); }},
    Option{"call_passes", false, [](Number n, SimOptions& o) { return Set(n.In(0, 1'000'000), o.generation.call_passes); }},
    Option{"call_pass_us", false, [](Number n, SimOptions& o) { return SetDuration(n.In(0, 60'000'000), absl::Microseconds(1), o.generation.call_pass); }},
    Option{"stuck_at_call", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.stuck_at_call); }},
    Option{"slow_at_tick", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.slow_at_tick); }},
    Option{"stuck_at_tick", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.stuck_at_tick); }},
    Option{"fail_at_tick", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.fail_at_tick); }},
    Option{"throw_at_tick", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.throw_at_tick); }},
    Option{"out_of_memory_at_tick", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.out_of_memory_at_tick); }},
    Option{"slow_at_op", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.slow_at_op); }},
    Option{"stuck_at_op", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.stuck_at_op); }},
    Option{"fail_at_op", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.fail_at_op); }},
    Option{"throw_at_op", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.throw_at_op); }},
    Option{"out_of_memory_at_op", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.out_of_memory_at_op); }},
    Option{"wrong_at_tick", false, [](Number n, SimOptions& o) { return Set(n.In(0, kMaxStep), o.generation.faults.wrong_at_tick); }},
    Option{"wrong_result", false, &SetWrongResult},
};

absl::Status UnknownOption(absl::string_view key) {
  std::string known;
  for (const Option& option : kOptions) absl::StrAppend(&known, " ", option.key);
  return absl::InvalidArgumentError(
      absl::StrCat("the sim engine has no option '", key, "'; it has:", known));
}

absl::Status SetOption(absl::string_view key, absl::string_view value, bool per_job,
                       SimOptions& options) {
  for (const Option& option : kOptions) {
    if (option.key != key) continue;
    if (per_job && !option.per_job) {
      return absl::InvalidArgumentError(
          absl::StrCat("sim option '", key, "' is the engine's and cannot be set by a prompt"));
    }
    return option.set({key, value}, options);
  }
  return UnknownOption(key);
}

absl::StatusOr<SimOptions> Checked(SimOptions options) {
  if (options.steps_per_segment > options.segment_ms) {
    return OutOfRange("steps_per_segment", absl::StrCat(options.steps_per_segment), 1,
                      options.segment_ms);
  }
  return options;
}

}  // namespace

absl::StatusOr<SimOptions> ParseSimOptions(const EngineConfig& config) {
  SimOptions options;
  for (const auto& [key, value] : config.options) {
    if (absl::Status status = SetOption(key, value, /*per_job=*/false, options); !status.ok()) {
      return status;
    }
  }
  return Checked(std::move(options));
}

absl::StatusOr<SimOptions> WithSimPrompt(SimOptions base, absl::string_view prompt) {
  for (absl::string_view word : absl::StrSplit(prompt, ' ', absl::SkipEmpty())) {
    if (word.substr(0, kPrefix.size()) != kPrefix) continue;
    word.remove_prefix(kPrefix.size());
    const std::pair<absl::string_view, absl::string_view> option =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    absl::Status status = SetOption(option.first, option.second, /*per_job=*/true, base);
    if (!status.ok()) return status;
  }
  return Checked(std::move(base));
}

}  // namespace superfluid
