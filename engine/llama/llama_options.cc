#include "engine/llama/llama_options.h"

#include "absl/status/status.h"
#include "engine/options/option_kinds.h"

namespace superfluid {
namespace {

using Options = LlamaOptions;

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kMaxTicks = 1'000'000'000;

template <class Field>
auto At(Field LlamaOptions::*field) {
  return [field](Options& o) -> Field& { return o.*field; };
}

}  // namespace

const OptionTable<LlamaOptions>& LlamaOptionTable() {
  static const auto* const kTable = new OptionTable<Options>(
      "llama",
      {
          ZeroOrWholeOption<Options>(
              "context", 16, 1'048'576, At(&Options::context),
              "tokens of a sequence; 0: what the model was trained for, at most 8192"),
          ZeroOrWholeOption<Options>("kv_tokens", 16, 4'194'304, At(&Options::kv_tokens),
                                     "tokens of all sequences and of the prefix cache together; 0: "
                                     "as context. The library rounds it up to 256"),
          WholeOption<Options>("batch", 1, 65'536, At(&Options::batch),
                               "tokens of one pass over the model, at most"),
          WholeOption<Options>("pass_ms", 0, 60'000, At(&Options::pass_ms),
                               "what a pass of tokens should take, at most: how long a lane waits "
                               "for the others of its tick; passes get fewer tokens for it, never "
                               "less than 32. 0: they do not"),
          WholeOption<Options>("ubatch", 1, 8192, At(&Options::ubatch),
                               "of a pass, so many tokens are computed at a time"),
          WholeOption<Options>("gpu_layers", -1, 10'000, At(&Options::gpu_layers),
                               "layers on the GPU, if there is one; -1: all"),
          ChoiceOption<Options, LlamaKvType>(
              "kv_type",
              {{"f16", LlamaKvType::kF16}, {"f32", LlamaKvType::kF32}, {"q8_0", LlamaKvType::kQ8}},
              At(&Options::kv_type), "how the KV cache keeps its numbers"),
          ChoiceOption<Options, LlamaFlashAttention>("flash_attention",
                                                     {{"auto", LlamaFlashAttention::kAuto},
                                                      {"on", LlamaFlashAttention::kOn},
                                                      {"off", LlamaFlashAttention::kOff}},
                                                     At(&Options::flash_attention),
                                                     "whether attention is computed that way"),
          SwitchOption<Options>("exact", At(&Options::exact),
                                "every token is computed by itself, without flash attention, so "
                                "that what else is in a pass does not change its numbers; slow"),
          SwitchOption<Options>("mmap", At(&Options::mmap),
                                "map the model's file into memory rather than read it"),
          NumberOption<Options>("lora_scale", 0, 100, At(&Options::lora_scale),
                                "how strongly an adapter acts"),
          WholeOption<Options>("ttl_ms", 1, kHourMs, At(&Options::ttl_ms), "of a lease"),
          WholeOption<Options>("ttl_ticks", 1, kMaxTicks, At(&Options::ttl_ticks), "of a lease"),
          WholeOption<Options>("max_sequences", 1, 100'000, At(&Options::max_sequences),
                               "sequences that may exist; 256 at most can have state"),
          TextOption<Options>("mmproj", "a path", IsSomeText, At(&Options::mmproj),
                              "file of a projector, with which the model takes images"),
          TextOption<Options>("backends", "", IsAnyText, At(&Options::backends),
                              "folder of the library's backends (CPU variants, CUDA ...); none: "
                              "beside the library"),
      },
      OptionTable<Options>::Repeated::kLastCounts);
  return *kTable;
}

absl::StatusOr<LlamaOptions> ParseLlamaOptions(const EngineConfig& config) {
  absl::StatusOr<LlamaOptions> options = LlamaOptionTable().Parse(config.options);
  if (options.ok() && options->exact && options->flash_attention == LlamaFlashAttention::kOn) {
    return absl::InvalidArgumentError("engine option exact: it is without flash attention");
  }
  return options;
}

}  // namespace superfluid
