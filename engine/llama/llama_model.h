#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_MODEL_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/handles.h"
#include "engine/llama/gguf_check.h"
#include "engine/llama/llama_library.h"
#include "engine/llama/llama_options.h"

struct ggml_backend_device;
struct llama_context;
struct llama_model;
struct llama_vocab;

namespace superfluid {

// The library's limit, and so that of sequences that have state.
inline constexpr int32_t kLlamaSequenceIds = 256;

// A model and the one context that computes with it. Threads: one. Lifetime: outlives what works on
// it.
class LlamaModel {
 public:
  // Errors: those of CheckGguf; InvalidArgument (an adapter, an architecture that the library or
  // this engine does not serve, tensors that are missing or have wrong shapes, a device that does
  // not exist); ResourceExhausted (no memory for the KV cache).
  static absl::StatusOr<std::unique_ptr<LlamaModel>> Load(const EngineConfig& config,
                                                          const LlamaOptions& options);
  LlamaModel(const LlamaModel&) = delete;
  LlamaModel& operator=(const LlamaModel&) = delete;
  ~LlamaModel();

  llama_model* model() const { return model_; }
  llama_context* context() const { return context_; }
  const llama_vocab* vocab() const { return vocab_; }
  LlamaLibrary& library() { return library_; }
  // That its layers are on; null: the CPU.
  ggml_backend_device* device() const { return device_; }

  const GgufFacts& facts() const { return facts_; }
  std::string description() const;  // "llama 7B Q4_0", for people
  uint32_t vocab_size() const { return vocab_size_; }
  uint32_t context_tokens() const { return context_tokens_; }  // of a sequence
  int threads() const { return threads_; }                     // the most to compute with
  uint64_t kv_tokens() const { return kv_tokens_; }            // of all
  uint32_t batch_tokens() const { return batch_tokens_; }      // of a pass
  uint64_t weight_bytes() const;
  uint32_t window_tokens() const;  // of sliding-window attention; 0: none
  uint32_t embedding_size() const;
  uint32_t row_width() const;  // of what is computed in place of a token's embedding
  bool EndsText(Token token) const;
  std::vector<Token> EndTokens() const;  // all that do

 private:
  explicit LlamaModel(EngineLog log) : library_(std::move(log)) {}
  absl::Status LoadWeights(const EngineConfig& config, const LlamaOptions& options);
  absl::Status CheckKind() const;
  absl::Status MakeContext(const EngineConfig& config, const LlamaOptions& options);

  LlamaLibrary library_;
  GgufFacts facts_;
  ggml_backend_device* device_ = nullptr;
  llama_model* model_ = nullptr;
  llama_context* context_ = nullptr;
  const llama_vocab* vocab_ = nullptr;
  uint32_t vocab_size_ = 0;
  uint32_t context_tokens_ = 0;
  int threads_ = 1;
  uint64_t kv_tokens_ = 0;
  uint32_t batch_tokens_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_MODEL_H_
