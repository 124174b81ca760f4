#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_ADAPTER_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_ADAPTER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/call_control.h"
#include "engine/llama/llama_model.h"

struct llama_adapter_lora;

namespace superfluid {

// The loaded LoRA adapter: a GGUF file of type "adapter" for this model. The same file has the same
// fingerprint. Threads: one. Lifetime: the model must
// outlive it.
class LlamaAdapter {
 public:
  LlamaAdapter(LlamaModel& model, float scale) : model_(model), scale_(scale) {}
  LlamaAdapter(const LlamaAdapter&) = delete;
  LlamaAdapter& operator=(const LlamaAdapter&) = delete;
  ~LlamaAdapter() { Unload(); }

  // NotFound, InvalidArgument, Cancelled: those of CheckGguf and CheckGgufTensors, and a file that
  // is no adapter or one of another model; the adapter before stays then. The control is called
  // while the file is read and checked; the library then takes it in one go, from the page cache.
  // Returns the fingerprint, never 0.
  absl::StatusOr<uint64_t> Load(const std::string& path, const CallControl& control);
  void Unload();

  uint64_t bytes() const { return bytes_; }

 private:
  absl::Status Use(llama_adapter_lora* adapter);

  LlamaModel& model_;
  const float scale_;
  llama_adapter_lora* adapter_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_ADAPTER_H_
