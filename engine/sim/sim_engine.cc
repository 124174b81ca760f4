#include "engine/sim/sim_engine.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/sim/sim_drawing.h"
#include "engine/sim/sim_generation.h"
#include "engine/sim/sim_job.h"
#include "engine/sim/sim_options.h"

namespace superfluid {
namespace {

constexpr size_t kMaxLanguageBytes = 35;
constexpr uint32_t kKvBits = 16;
// A round number, so that a test sees jobs come and go.
constexpr uint64_t kBytesPerJob = 65536;
constexpr uint32_t kLoadParts = 100;

bool IsLanguage(absl::string_view text) {
  return text.size() <= kMaxLanguageBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-';
         });
}

class SimEngine : public Engine {
 public:
  SimEngine(SimOptions options, std::shared_ptr<SimClock> clock)
      : options_(std::move(options)),
        clock_(std::move(clock)),
        generation_(std::make_unique<SimGeneration>(options_, clock_)) {
    info_.name = "sim";
    info_.version = "1";
    const SimGenerationOptions& generation = options_.generation;
    info_.micro_step = std::max({options_.step, generation.tick, generation.token,
                                 generation.call_pass, absl::Milliseconds(1)});
    info_.max_transcriptions = options_.max_transcriptions;
    info_.max_lanes = static_cast<int>(TokenModel::kMaxLanes);
    info_.kv_bits = kKvBits;
    info_.vocab_size = generation.vocab;
  }

  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override;
  MemoryCounters Memory() const override;
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) override;
  Generation* generation() override { return generation_.get(); }
  void Reset() override { generation_->Reset(); }

 private:
  nlohmann::json DescribeSpaces() const;

  const SimOptions options_;
  const std::shared_ptr<SimClock> clock_;
  const std::unique_ptr<SimGeneration> generation_;
  EngineInfo info_;
  // Each job holds a copy; the count of owners less one is the number of jobs.
  const std::shared_ptr<const void> jobs_ = std::make_shared<int>(0);
};

nlohmann::json SimEngine::DescribeSpaces() const {
  nlohmann::json spaces = nlohmann::json::array();
  for (const StateSpace& space : generation_->StateSpaces()) {
    spaces.push_back({{"id", static_cast<uint32_t>(space.id)},
                      {"name", space.name},
                      {"bytes_per_token", space.bytes_per_token},
                      {"boundary_tokens", space.boundary_tokens},
                      {"encodings", space.encodings}});
  }
  return spaces;
}

std::string SimEngine::CapabilitiesJson() const {
  std::vector<std::string> calls = generation_->Calls();
  calls.insert(calls.begin(), "transcribe");
  const nlohmann::json json = {
      {"engine", info_.name},
      {"version", info_.version},
      {"model", "none"},
      {"transcription",
       {{"max_jobs", info_.max_transcriptions},
        {"languages", "any"},
        {"translate", true},
        {"word_times", true},
        {"partial_results", options_.partials},
        {"live", true},
        {"prompt", "sim:key=value words set an option for one request"}}},
      {"calls", calls},
      {"vocab_size", info_.vocab_size},
      {"context_tokens", options_.generation.context},
      {"state_spaces", DescribeSpaces()},
      {"end_of_text_token", kSimEndOfText},
  };
  return json.dump();
}

MemoryCounters SimEngine::Memory() const {
  MemoryCounters counters = generation_->Memory();
  counters.allocated_bytes += kBytesPerJob * static_cast<uint64_t>(jobs_.use_count() - 1);
  return counters;
}

absl::StatusOr<std::unique_ptr<TranscriptionJob>> SimEngine::StartTranscription(
    const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) {
  if (jobs_.use_count() - 1 >= info_.max_transcriptions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the sim engine runs ", info_.max_transcriptions, " transcriptions at most"));
  }
  if (!IsLanguage(params.language)) {
    return absl::InvalidArgumentError("the language is not a language code");
  }
  absl::StatusOr<SimOptions> options = WithSimPrompt(options_, params.prompt);
  if (!options.ok()) return options.status();
  if (options->faults.fail_start) return absl::InternalError("the start failed, as asked for");
  return std::make_unique<SimJob>(*std::move(options), params, std::move(audio), clock_, jobs_);
}

// What a model's weights would take.
absl::Status Load(const SimOptions& options, const EngineConfig& config, SimClock& clock) {
  if (options.load > absl::ZeroDuration()) {
    for (uint32_t part = 1; part <= kLoadParts; ++part) {
      clock.Spend(options.load / kLoadParts);
      if (config.on_loading) config.on_loading(1000 * part / kLoadParts);
    }
  }
  if (options.fail_load) return absl::InternalError("the load failed, as asked for");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeSimEngine(const EngineConfig& config) {
  return MakeSimEngine(config, nullptr);
}

absl::StatusOr<std::unique_ptr<Engine>> MakeSimEngine(const EngineConfig& config,
                                                      std::shared_ptr<SimClock> clock) {
  if (AsksForHelp(config.options)) {
    return SayHelp(SimOptionTable().engine(), SimOptionTable().Rows(),
                   [&config](absl::string_view line) {
                     if (config.log) config.log(EngineLogLevel::kInfo, line);
                   });
  }
  absl::StatusOr<SimOptions> options = ParseSimOptions(config);
  if (!options.ok()) return options.status();
  if (clock == nullptr) clock = MakeRealSimClock(options->work);
  if (absl::Status loaded = Load(*options, config, *clock); !loaded.ok()) return loaded;
  return std::make_unique<SimEngine>(*std::move(options), std::move(clock));
}

}  // namespace superfluid
