#include "engine/pocketsphinx/pocketsphinx_engine.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/pocketsphinx/decoder_pool.h"
#include "engine/pocketsphinx/model_files.h"
#include "engine/pocketsphinx/options.h"
#include "engine/pocketsphinx/pocketsphinx_job.h"

namespace superfluid {
namespace {

// The library has no call that tells its version; this is what the distribution has.
constexpr char kLibraryVersion[] = "5prealpha";

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class PocketsphinxEngine : public Engine {
 public:
  PocketsphinxEngine(PocketsphinxOptions options, ModelFiles model,
                     std::unique_ptr<DecoderPool> pool, uint64_t decoder_bytes)
      : options_(std::move(options)),
        model_(std::move(model)),
        pool_(std::move(pool)),
        decoder_bytes_(decoder_bytes) {
    info_.name = "pocketsphinx";
    info_.version = kLibraryVersion;
    info_.max_transcriptions = options_.pool;
  }

  const EngineInfo& info() const override { return info_; }

  std::string CapabilitiesJson() const override {
    const std::string language = PrimaryLanguage(options_.language);
    // English into English, which is no work; a model of another language does not translate.
    nlohmann::json translate_from = nlohmann::json::array();
    if (language == "en") translate_from.push_back(language);
    const nlohmann::json capabilities = {
        {"engine", info_.name},
        {"version", info_.version},
        {"model", model_.name},
        {"device", "cpu"},
        {"calls", {"transcribe"}},
        {"transcribe",
         {{"languages", {language}},
          {"translate", !translate_from.empty()},
          {"translate_from", translate_from},
          {"streaming", true},
          {"live_audio", true},
          {"partial_results", true},
          {"word_times", true},
          {"word_probabilities", true},
          {"prompt", false},
          {"max_transcriptions", options_.pool},
          {"max_segment_ms", options_.max_segment_ms}}},
    };
    return capabilities.dump();
  }

  MemoryCounters Memory() const override {
    MemoryCounters counters;
    counters.allocated_bytes = decoder_bytes_ * static_cast<uint64_t>(pool_->made());
    counters.pool_blocks_total = static_cast<uint64_t>(options_.pool);
    counters.pool_blocks_used = static_cast<uint64_t>(*open_jobs_);
    return counters;
  }

  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) override {
    if (audio == nullptr) return absl::InvalidArgumentError("there is no audio to transcribe");
    if (absl::Status status = CheckLanguage(params.language, options_.language); !status.ok()) {
      return status;
    }
    if (params.translate && PrimaryLanguage(options_.language) != "en") {
      return absl::UnimplementedError("this engine cannot translate");
    }
    if (!params.prompt.empty()) {
      return absl::UnimplementedError("this engine takes no prompt; nothing guides it");
    }
    if (*open_jobs_ >= options_.pool) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "all ", options_.pool, " transcriptions that the engine has room for are in progress"));
    }
    return std::make_unique<PocketsphinxJob>(pool_.get(), open_jobs_, options_, params,
                                             std::move(audio));
  }

 private:
  EngineInfo info_;
  PocketsphinxOptions options_;
  ModelFiles model_;
  std::unique_ptr<DecoderPool> pool_;
  uint64_t decoder_bytes_;
  std::shared_ptr<int> open_jobs_ = std::make_shared<int>(0);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakePocketsphinxEngine(const EngineConfig& config) {
  if (AsksForHelp(config.options)) {
    return SayHelp(PocketsphinxOptionTable().engine(), PocketsphinxOptionTable().Rows(),
                   [&config](absl::string_view line) {
                     if (config.log) config.log(EngineLogLevel::kInfo, line);
                   });
  }
  absl::StatusOr<PocketsphinxOptions> options = ParsePocketsphinxOptions(config.options);
  if (!options.ok()) return options.status();
  absl::StatusOr<ModelFiles> model = FindModelFiles(config.model_path);
  if (!model.ok()) return model.status();
  const uint64_t before = ResidentBytes();
  absl::StatusOr<std::unique_ptr<DecoderPool>> pool = DecoderPool::Create(
      [model = *model, options = *options] { return Decoder::Load(model, options); }, options->warm,
      options->pool);
  if (!pool.ok()) return pool.status();
  const uint64_t after = ResidentBytes();
  const uint64_t decoder_bytes =
      after > before ? (after - before) / static_cast<uint64_t>(options->warm) : 0;
  return std::make_unique<PocketsphinxEngine>(*std::move(options), *std::move(model),
                                              *std::move(pool), decoder_bytes);
}

}  // namespace superfluid
