#include "engine/llama/llama_model.h"

#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/compute_threads.h"

namespace superfluid {
namespace {

constexpr uint32_t kDefaultContext = 8192;
constexpr uint32_t kMinContext = 16;

// Those that layers can be put on. The CPU is always there and not among them.
std::vector<ggml_backend_dev_t> Accelerators() {
  std::vector<ggml_backend_dev_t> devices;
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU) devices.push_back(device);
  }
  return devices;
}

ggml_type TypeOf(LlamaKvType type) {
  switch (type) {
    case LlamaKvType::kF32:
      return GGML_TYPE_F32;
    case LlamaKvType::kQ8:
      return GGML_TYPE_Q8_0;
    default:
      return GGML_TYPE_F16;
  }
}

llama_flash_attn_type FlashAttention(const LlamaOptions& options) {
  if (options.exact) return LLAMA_FLASH_ATTN_TYPE_DISABLED;
  switch (options.flash_attention) {
    case LlamaFlashAttention::kOn:
      return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    case LlamaFlashAttention::kOff:
      return LLAMA_FLASH_ATTN_TYPE_DISABLED;
    default:
      return LLAMA_FLASH_ATTN_TYPE_AUTO;
  }
}

std::string WithReason(absl::string_view what, LlamaLibrary& library) {
  const std::string reason = library.TakeError();
  return reason.empty() ? std::string(what) : absl::StrCat(what, ": ", reason);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LlamaModel>> LlamaModel::Load(const EngineConfig& config,
                                                             const LlamaOptions& options) {
  if (config.model_path.empty()) {
    return absl::InvalidArgumentError("the llama engine needs a model: a file in the GGUF format");
  }
  absl::StatusOr<GgufFacts> facts = CheckGgufModel(config.model_path);
  if (!facts.ok()) return facts.status();
  if (facts->type == "adapter") {
    return absl::InvalidArgumentError("the file is an adapter, not a model");
  }
  // Not make_unique: the constructor is private.
  std::unique_ptr<LlamaModel> loaded(new LlamaModel(config.log));
  loaded->facts_ = *std::move(facts);
  try {
    LlamaLibrary::LoadBackends(options.backends);
    absl::Status status = loaded->LoadWeights(config, options);
    if (status.ok()) status = loaded->CheckKind();
    if (status.ok()) status = loaded->MakeContext(config, options);
    if (!status.ok()) return status;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("the model cannot be loaded: ", error.what()));
  }
  return loaded;
}

LlamaModel::~LlamaModel() {
  if (context_ != nullptr) llama_free(context_);
  if (model_ != nullptr) llama_model_free(model_);
}

absl::Status LlamaModel::LoadWeights(const EngineConfig& config, const LlamaOptions& options) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  params.load_mode = options.mmap ? LLAMA_LOAD_MODE_MMAP : LLAMA_LOAD_MODE_NONE;
  params.check_tensors = false;
  const std::vector<ggml_backend_dev_t> accelerators = Accelerators();
  const auto index = static_cast<size_t>(std::max(config.device, 0));
  if (index > 0 && index >= accelerators.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no device ", index, "; there are ", accelerators.size()));
  }
  // Null-terminated; none: everything on the CPU.
  if (!accelerators.empty() && options.gpu_layers != 0) device_ = accelerators[index];
  std::array<ggml_backend_dev_t, 2> devices = {device_, nullptr};
  params.devices = devices.data();
  params.split_mode = LLAMA_SPLIT_MODE_NONE;
  params.main_gpu = device_ == nullptr ? -1 : 0;
  params.progress_callback = [](float loaded, void* on_loading) {
    const auto& tell = *static_cast<const std::function<void(uint32_t)>*>(on_loading);
    if (tell) tell(static_cast<uint32_t>(std::clamp(loaded, 0.0F, 1.0F) * 1000));
    return true;
  };
  std::function<void(uint32_t)> on_loading = config.on_loading;
  params.progress_callback_user_data = &on_loading;
  model_ = llama_model_load_from_file(config.model_path.c_str(), params);
  if (model_ == nullptr) {
    return absl::InvalidArgumentError(WithReason("the model cannot be loaded", library_));
  }
  vocab_ = llama_model_get_vocab(model_);
  vocab_size_ = static_cast<uint32_t>(std::max(0, llama_vocab_n_tokens(vocab_)));
  return absl::OkStatus();
}

absl::Status LlamaModel::CheckKind() const {
  if (vocab_size_ == 0 || llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_NONE) {
    return absl::InvalidArgumentError("the model has no vocabulary");
  }
  if (!llama_model_has_decoder(model_) || llama_model_has_encoder(model_)) {
    return absl::InvalidArgumentError("the model is not one of a decoder alone");
  }
  if (llama_model_is_recurrent(model_) || llama_model_is_hybrid(model_)) {
    return absl::InvalidArgumentError(
        "the model has a recurrent state, which this engine cannot cut, fork or cache");
  }
  if (llama_model_is_diffusion(model_)) {
    return absl::InvalidArgumentError("the model is a diffusion model");
  }
  return absl::OkStatus();
}

absl::Status LlamaModel::MakeContext(const EngineConfig& config, const LlamaOptions& options) {
  const auto trained = static_cast<uint32_t>(std::max(0, llama_model_n_ctx_train(model_)));
  context_tokens_ = options.context != 0 ? options.context : std::min(trained, kDefaultContext);
  context_tokens_ = std::max(context_tokens_, kMinContext);
  llama_context_params params = llama_context_default_params();
  // The library ends the process if a batch could not have a token of each sequence, and a batch is
  // never more than the cache.
  constexpr auto least = static_cast<uint32_t>(kLlamaSequenceIds);
  params.n_ctx = std::max(options.kv_tokens != 0 ? options.kv_tokens : context_tokens_, least);
  params.n_batch = std::max(options.batch, least);
  params.n_ubatch = std::min(options.ubatch, options.batch);
  params.n_seq_max = kLlamaSequenceIds;
  params.kv_unified = true;
  params.swa_full = true;
  ThreadLimit limit = LimitThreads(config.threads);
  if (!limit.warning.empty() && config.log != nullptr) {
    config.log(EngineLogLevel::kWarning, limit.warning);
  }
  threads_ = limit.threads;
  params.n_threads = threads_;
  params.n_threads_batch = params.n_threads;
  params.type_k = TypeOf(options.kv_type);
  params.type_v = params.type_k;
  params.flash_attn_type = FlashAttention(options);
  params.pooling_type = LLAMA_POOLING_TYPE_NONE;
  params.no_perf = true;
  context_ = llama_init_from_model(model_, params);
  if (context_ == nullptr) {
    return absl::ResourceExhaustedError(WithReason("no context can be made", library_));
  }
  if (llama_get_memory(context_) == nullptr) {
    return absl::InvalidArgumentError("the model keeps no state");
  }
  kv_tokens_ = llama_n_ctx(context_);
  batch_tokens_ = std::min(llama_n_batch(context_), options.batch);
  context_tokens_ = static_cast<uint32_t>(std::min<uint64_t>(context_tokens_, kv_tokens_));
  return absl::OkStatus();
}

std::string LlamaModel::description() const {
  std::array<char, 256> text{};
  llama_model_desc(model_, text.data(), text.size());
  return text.data();
}

uint64_t LlamaModel::weight_bytes() const { return llama_model_size(model_); }

uint32_t LlamaModel::window_tokens() const {
  return static_cast<uint32_t>(std::max(0, llama_model_n_swa(model_)));
}

uint32_t LlamaModel::embedding_size() const {
  return static_cast<uint32_t>(std::max(0, llama_model_n_embd_out(model_)));
}

uint32_t LlamaModel::row_width() const {
  return static_cast<uint32_t>(std::max(0, llama_model_n_embd_inp(model_)));
}

bool LlamaModel::EndsText(Token token) const {
  return llama_vocab_is_eog(vocab_, static_cast<llama_token>(token));
}

std::vector<Token> LlamaModel::EndTokens() const {
  std::vector<Token> tokens;
  for (Token token = 0; token < vocab_size_; ++token) {
    if (EndsText(token)) tokens.push_back(token);
  }
  return tokens;
}

}  // namespace superfluid
