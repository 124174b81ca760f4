#include "engine/llama/llama_adapter.h"

#include <llama.h>

#include <cstring>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/llama/gguf_check.h"
#include "engine/llama/library_guard.h"
#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

// Null if the library refuses it, throws, or finds its own rules broken.
llama_adapter_lora* LoadFile(llama_model* model, const std::string& path) noexcept {
  const LibraryGuard guard;
  try {
    return llama_adapter_lora_init(model, path.c_str());
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Another strength computes other things. Never 0, which stands for no adapter.
uint64_t FingerprintOf(uint64_t file, float scale) {
  uint32_t bits = 0;
  std::memcpy(&bits, &scale, sizeof(bits));
  const uint64_t fingerprint = Mix(file, bits);
  return fingerprint == 0 ? 1 : fingerprint;
}

}  // namespace

absl::Status LlamaAdapter::Use(llama_adapter_lora* adapter) {
  float scale = scale_;
  try {
    if (llama_set_adapters_lora(model_.context(), &adapter, adapter == nullptr ? 0 : 1, &scale) ==
        0) {
      return absl::OkStatus();
    }
    return absl::InternalError("the library does not take the adapter");
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("the library does not take the adapter: ", error.what()));
  }
}

absl::StatusOr<uint64_t> LlamaAdapter::Load(const std::string& path, const CallControl& control) {
  const absl::StatusOr<GgufFacts> facts = CheckGguf(path, control);
  if (!facts.ok()) return facts.status();
  if (facts->type != "adapter") return absl::InvalidArgumentError("the file is no adapter");
  if (facts->architecture != model_.facts().architecture) {
    return absl::InvalidArgumentError(
        absl::StrCat("the adapter is for a model of architecture ", facts->architecture));
  }
  const absl::StatusOr<uint64_t> contents = CheckGgufTensors(path, *facts, control);
  if (!contents.ok()) return contents.status();
  if (absl::Status status = control.GoOn(); !status.ok()) return status;
  (void)model_.library().TakeError();
  llama_adapter_lora* loaded = LoadFile(model_.model(), path);
  if (loaded == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the adapter does not fit the model: ", model_.library().TakeError()));
  }
  if (absl::Status status = Use(loaded); !status.ok()) {
    (void)Use(adapter_);
    llama_adapter_lora_free(loaded);
    return status;
  }
  if (adapter_ != nullptr) llama_adapter_lora_free(adapter_);
  adapter_ = loaded;
  bytes_ = facts->file_bytes;
  return FingerprintOf(Mix(facts->fingerprint, *contents), scale_);
}

void LlamaAdapter::Unload() {
  if (adapter_ == nullptr) return;
  (void)Use(nullptr);
  llama_adapter_lora_free(adapter_);
  adapter_ = nullptr;
  bytes_ = 0;
}

}  // namespace superfluid
