#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_OPTIONS_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/engine.h"
#include "engine/options/option_table.h"

namespace superfluid {

// How the KV cache keeps its numbers. Names of "kv_type": f16, f32, q8_0.
enum class LlamaKvType : uint8_t { kF16, kF32, kQ8 };
// Names of "flash_attention": auto, on, off.
enum class LlamaFlashAttention : uint8_t { kAuto, kOn, kOff };

// One `key=value` of --engine-option per field, the key being the field's name.
struct LlamaOptions {
  // Tokens of a sequence; 0: what the model was trained for, at most 8192. [16, 1048576]
  uint32_t context = 0;
  // Tokens of all sequences and of the prefix cache together; 0: as `context`. The library rounds
  // it up to 256. [16, 4194304]
  uint32_t kv_tokens = 0;
  uint32_t batch = 2048;  // tokens of one pass over the model, at most, [1, 65536]
  // What a pass of tokens should take, at most: how long a lane waits for the others of its tick.
  // Passes get fewer tokens than `batch` for it, never less than 32; 0: they do not. [0, 60000]
  uint32_t pass_ms = 400;
  uint32_t ubatch = 512;  // of which so many are computed at a time, [1, 8192]
  int gpu_layers = -1;    // layers on the GPU, if there is one; -1: all. [-1, 10000]
  LlamaKvType kv_type = LlamaKvType::kF16;
  LlamaFlashAttention flash_attention = LlamaFlashAttention::kAuto;
  // Every token is computed by itself, and without flash attention (which sums up in 16 bits), so
  // that what else is in a pass does not change its numbers, and where its state lies in the cache
  // their last bits at most. Slow. [0, 1]
  bool exact = false;
  bool mmap = true;           // map the model's file into memory rather than read it, [0, 1]
  float lora_scale = 1;       // how strongly an adapter acts, [0, 100]
  uint64_t ttl_ms = 30'000;   // of a lease, [1, 1 hour]
  uint64_t ttl_ticks = 4096;  // of a lease, [1, 1e9]
  uint32_t max_sequences =
      4096;  // sequences that may exist; 256 at most can have state, [1, 100000]
  // The file of a projector, with which the model takes images ("mmproj"); empty: none.
  std::string mmproj;
  // Where the library's backends (CPU variants, CUDA ...) lie; empty: beside the library.
  std::string backends;
};

// All of them, with their ranges and what they are for.
const OptionTable<LlamaOptions>& LlamaOptionTable();

// Errors: InvalidArgument naming the option (unknown; not a number, or out of its range).
absl::StatusOr<LlamaOptions> ParseLlamaOptions(const EngineConfig& config);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_OPTIONS_H_
