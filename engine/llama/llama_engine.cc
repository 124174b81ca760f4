#include "engine/llama/llama_engine.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/llama/image_file.h"
#include "engine/llama/llama_generation.h"
#include "engine/llama/llama_library.h"
#include "engine/llama/llama_model.h"
#include "engine/llama/llama_options.h"
#include "engine/llama/llama_token_model.h"
#include "engine/llama/media_encoder.h"

namespace superfluid {
namespace {

// A pass of tokens takes `pass_ms`, or what one of few tokens took; and more, until the next ones
// are made smaller, where a long text lies before it.
constexpr absl::Duration kMicroStep = absl::Seconds(1);
constexpr int kPassSlack = 4;
// An image is one step, and may take longer than the blank one did.
constexpr int kEncodeSlack = 4;
constexpr absl::Duration kMaxMicroStep = absl::Seconds(30);

uint32_t KvBits(LlamaKvType type) {
  switch (type) {
    case LlamaKvType::kF32:
      return 32;
    case LlamaKvType::kQ8:
      return 8;
    default:
      return 16;
  }
}

class LlamaEngine : public Engine {
 public:
  LlamaEngine(std::unique_ptr<LlamaTokenModel> model, const LlamaOptions& options)
      : generation_(std::make_unique<LlamaGeneration>(std::move(model))) {
    info_.name = "llama";
    info_.version = absl::StrCat("llama.cpp ", LlamaLibrary::Version());
    info_.micro_step = std::clamp(
        std::max(kPassSlack * llama().warm_pass_time(), 2 * absl::Milliseconds(options.pass_ms)),
        kMicroStep, kMaxMicroStep);
    if (const MediaEncoder* encoder = llama().encoder(); encoder != nullptr) {
      info_.micro_step =
          std::clamp(kEncodeSlack * encoder->encode_time(), info_.micro_step, kMaxMicroStep);
    }
    info_.max_lanes = static_cast<int>(TokenModel::kMaxLanes);
    info_.kv_bits = KvBits(options.kv_type);
    info_.vocab_size = llama().model->vocab_size();
  }

  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override;
  MemoryCounters Memory() const override { return generation_->Memory(); }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) override {
    return absl::UnimplementedError("the llama engine does not transcribe");
  }
  Generation* generation() override { return generation_.get(); }
  void Reset() override { generation_->Reset(); }

 private:
  nlohmann::json DescribeSpaces() const;
  nlohmann::json DescribeMedia() const;
  const LlamaTokenModel& llama() const { return generation_->llama(); }

  const std::unique_ptr<LlamaGeneration> generation_;
  EngineInfo info_;
};

nlohmann::json LlamaEngine::DescribeSpaces() const {
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

// What a daemon needs to know before it asks for a file.
nlohmann::json LlamaEngine::DescribeMedia() const {
  if (llama().encoder() == nullptr) return nullptr;
  return {{"kinds", {"image"}},
          {"formats", {"jpeg", "png", "gif", "bmp", "ppm", "pgm"}},
          {"max_file_bytes", kMaxImageBytes},
          {"max_pixels", kMaxImagePixels}};
}

std::string LlamaEngine::CapabilitiesJson() const {
  const LlamaModel& model = *llama().model;
  const nlohmann::json json = {
      {"engine", info_.name},
      {"version", info_.version},
      {"model", model.description()},
      {"architecture", model.facts().architecture},
      {"weight_bytes", model.weight_bytes()},
      {"calls", generation_->Calls()},
      {"vocab_size", info_.vocab_size},
      {"byte_tokens", false},
      {"context_tokens", model.context_tokens()},
      {"kv_tokens", model.kv_tokens()},
      {"pass_tokens", model.batch_tokens()},
      {"kv_bits", info_.kv_bits},
      {"state_spaces", DescribeSpaces()},
      {"media", DescribeMedia()},
      {"end_of_text_tokens", model.EndTokens()},
  };
  // A model's name may hold anything.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeLlamaEngine(const EngineConfig& config) {
  if (AsksForHelp(config.options)) {
    return SayHelp(LlamaOptionTable().engine(), LlamaOptionTable().Rows(),
                   [&config](absl::string_view line) {
                     if (config.log) config.log(EngineLogLevel::kInfo, line);
                   });
  }
  const absl::StatusOr<LlamaOptions> options = ParseLlamaOptions(config);
  if (!options.ok()) return options.status();
  absl::StatusOr<std::unique_ptr<LlamaModel>> model = LlamaModel::Load(config, *options);
  if (!model.ok()) return model.status();
  std::unique_ptr<MediaEncoder> encoder;
  if (!options->mmproj.empty()) {
    absl::StatusOr<std::unique_ptr<MediaEncoder>> loaded =
        MediaEncoder::Load(config, *options, **model);
    if (!loaded.ok()) return loaded.status();
    encoder = *std::move(loaded);
    if (config.log != nullptr) {
      config.log(EngineLogLevel::kInfo, absl::StrCat("images: a blank one was encoded in ",
                                                     absl::FormatDuration(encoder->encode_time())));
    }
  }
  auto llama = std::make_unique<LlamaTokenModel>(*options, *std::move(model), std::move(encoder));
  if (absl::Status status = llama->WarmUp(); !status.ok()) return status;
  if (!llama->layout.known() && config.log != nullptr) {
    config.log(EngineLogLevel::kWarning,
               "the library writes state in a form that is not known: no state ops");
  }
  return std::make_unique<LlamaEngine>(std::move(llama), *options);
}

}  // namespace superfluid
