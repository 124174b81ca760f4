#include "engine/whisper/options.h"

#include <set>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

struct IntegerOption {
  const char* name;
  int WhisperOptions::*field;
  int least;
  int most;
};

constexpr IntegerOption kIntegers[] = {
    {"states", &WhisperOptions::states, 1, 64},
    {"beam_size", &WhisperOptions::beam_size, 1, 8},
    {"best_of", &WhisperOptions::best_of, 1, 8},
    {"pause_ms", &WhisperOptions::pause_ms, 200, 5000},
    {"partial_ms", &WhisperOptions::partial_ms, 200, 10'000},
    {"audio_ctx", &WhisperOptions::audio_ctx, 64, 1500},
};

struct NumberOption {
  const char* name;
  double WhisperOptions::*field;
  double least;
  double most;
};

constexpr NumberOption kNumbers[] = {
    {"temperature", &WhisperOptions::temperature, 0, 1},
    {"temperature_inc", &WhisperOptions::temperature_inc, 0, 1},
    {"entropy_thold", &WhisperOptions::entropy_thold, 0, 10},
    {"logprob_thold", &WhisperOptions::logprob_thold, -10, 0},
    {"no_speech_thold", &WhisperOptions::no_speech_thold, 0, 1},
    {"vad_threshold", &WhisperOptions::vad_threshold, 0.01, 0.99},
};

struct SwitchOption {
  const char* name;
  bool WhisperOptions::*field;
};

constexpr SwitchOption kSwitches[] = {
    {"gpu", &WhisperOptions::gpu},
    {"flash_attn", &WhisperOptions::flash_attn},
};

// Repeats at so small steps would be hundreds.
constexpr double kLeastIncrement = 0.05;

std::string KnownNames() {
  std::string names = "vad_model, backends";
  for (const IntegerOption& option : kIntegers) absl::StrAppend(&names, ", ", option.name);
  for (const NumberOption& option : kNumbers) absl::StrAppend(&names, ", ", option.name);
  for (const SwitchOption& option : kSwitches) absl::StrAppend(&names, ", ", option.name);
  return names;
}

absl::Status Refuse(const char* name, const std::string& value, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("engine option ", name, "=", value, ": must be ", why));
}

absl::Status Set(const IntegerOption& option, const std::string& value, WhisperOptions& parsed) {
  int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < option.least || number > option.most) {
    return Refuse(option.name, value,
                  absl::StrCat("a whole number from ", option.least, " to ", option.most));
  }
  parsed.*option.field = number;
  return absl::OkStatus();
}

absl::Status Set(const NumberOption& option, const std::string& value, WhisperOptions& parsed) {
  double number = 0;
  const bool is_number = absl::SimpleAtod(value, &number);
  if (!is_number || !(number >= option.least && number <= option.most)) {  // NaN is neither
    return Refuse(option.name, value,
                  absl::StrCat("a number from ", option.least, " to ", option.most));
  }
  parsed.*option.field = number;
  return absl::OkStatus();
}

absl::Status Set(const SwitchOption& option, const std::string& value, WhisperOptions& parsed) {
  bool on = false;
  if (!absl::SimpleAtob(value, &on)) return Refuse(option.name, value, "true or false");
  parsed.*option.field = on;
  return absl::OkStatus();
}

absl::Status SetOption(std::string_view name, const std::string& value, WhisperOptions& parsed) {
  for (const IntegerOption& option : kIntegers) {
    if (name == option.name) return Set(option, value, parsed);
  }
  for (const NumberOption& option : kNumbers) {
    if (name == option.name) return Set(option, value, parsed);
  }
  for (const SwitchOption& option : kSwitches) {
    if (name == option.name) return Set(option, value, parsed);
  }
  if (name == "vad_model") {
    parsed.vad_model = value;
    return absl::OkStatus();
  }
  if (name == "backends") {
    parsed.backends = value;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the whisper engine has no option \"",
                                                 std::string(name), "\"; it has ", KnownNames()));
}

}  // namespace

absl::StatusOr<WhisperOptions> ParseWhisperOptions(
    const std::vector<std::pair<std::string, std::string>>& options) {
  WhisperOptions parsed;
  std::set<std::string> seen;
  for (const auto& [name, value] : options) {
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("engine option ", name, " is given twice"));
    }
    if (absl::Status status = SetOption(name, value, parsed); !status.ok()) return status;
  }
  if (parsed.temperature_inc > 0 && parsed.temperature_inc < kLeastIncrement) {
    return absl::InvalidArgumentError(
        absl::StrCat("engine option temperature_inc: must be 0 or at least ", kLeastIncrement));
  }
  return parsed;
}

}  // namespace superfluid
