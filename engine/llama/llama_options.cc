#include "engine/llama/llama_options.h"

#include <array>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kMaxTicks = 1'000'000'000;

struct Value {
  absl::string_view key;
  absl::string_view text;

  absl::StatusOr<int64_t> In(int64_t low, int64_t high) const {
    int64_t number = 0;
    if (absl::SimpleAtoi(text, &number) && number >= low && number <= high) return number;
    return absl::InvalidArgumentError(absl::StrCat("llama option '", key, "': '", text,
                                                   "' is not a number from ", low, " to ", high));
  }
  absl::StatusOr<int64_t> ZeroOr(int64_t low, int64_t high) const {
    return text == "0" ? int64_t{0} : In(low, high);
  }
  absl::Status NotOneOf(absl::string_view names) const {
    return absl::InvalidArgumentError(
        absl::StrCat("llama option '", key, "': '", text, "' is not one of ", names));
  }
};

template <typename Field>
absl::Status Set(const absl::StatusOr<int64_t>& number, Field& field) {
  if (!number.ok()) return number.status();
  field = static_cast<Field>(*number);
  return absl::OkStatus();
}

absl::Status SetKvType(Value value, LlamaOptions& options) {
  if (value.text == "f16") {
    options.kv_type = LlamaKvType::kF16;
  } else if (value.text == "f32") {
    options.kv_type = LlamaKvType::kF32;
  } else if (value.text == "q8_0") {
    options.kv_type = LlamaKvType::kQ8;
  } else {
    return value.NotOneOf("f16, f32, q8_0");
  }
  return absl::OkStatus();
}

absl::Status SetFlashAttention(Value value, LlamaOptions& options) {
  if (value.text == "auto") {
    options.flash_attention = LlamaFlashAttention::kAuto;
  } else if (value.text == "on") {
    options.flash_attention = LlamaFlashAttention::kOn;
  } else if (value.text == "off") {
    options.flash_attention = LlamaFlashAttention::kOff;
  } else {
    return value.NotOneOf("auto, on, off");
  }
  return absl::OkStatus();
}

absl::Status SetLoraScale(Value value, LlamaOptions& options) {
  float scale = 0;
  if (!absl::SimpleAtof(value.text, &scale) || !std::isfinite(scale) || scale < 0 || scale > 100) {
    return absl::InvalidArgumentError(
        absl::StrCat("llama option 'lora_scale': '", value.text, "' is not from 0 to 100"));
  }
  options.lora_scale = scale;
  return absl::OkStatus();
}

struct Option {
  absl::string_view key;
  absl::Status (*set)(Value value, LlamaOptions& options) = nullptr;
};

constexpr std::array kOptions = {
    Option{"context",
           [](Value v, LlamaOptions& o) { return Set(v.ZeroOr(16, 1'048'576), o.context); }},
    Option{"kv_tokens",
           [](Value v, LlamaOptions& o) { return Set(v.ZeroOr(16, 4'194'304), o.kv_tokens); }},
    Option{"batch", [](Value v, LlamaOptions& o) { return Set(v.In(1, 65'536), o.batch); }},
    Option{"pass_ms", [](Value v, LlamaOptions& o) { return Set(v.In(0, 60'000), o.pass_ms); }},
    Option{"ubatch", [](Value v, LlamaOptions& o) { return Set(v.In(1, 8192), o.ubatch); }},
    Option{"gpu_layers",
           [](Value v, LlamaOptions& o) { return Set(v.In(-1, 10'000), o.gpu_layers); }},
    Option{"kv_type", &SetKvType},
    Option{"flash_attention", &SetFlashAttention},
    Option{"exact", [](Value v, LlamaOptions& o) { return Set(v.In(0, 1), o.exact); }},
    Option{"mmap", [](Value v, LlamaOptions& o) { return Set(v.In(0, 1), o.mmap); }},
    Option{"lora_scale", &SetLoraScale},
    Option{"ttl_ms", [](Value v, LlamaOptions& o) { return Set(v.In(1, kHourMs), o.ttl_ms); }},
    Option{"ttl_ticks",
           [](Value v, LlamaOptions& o) { return Set(v.In(1, kMaxTicks), o.ttl_ticks); }},
    Option{"max_sequences",
           [](Value v, LlamaOptions& o) { return Set(v.In(1, 100'000), o.max_sequences); }},
    Option{"mmproj",
           [](Value v, LlamaOptions& o) {
             if (v.text.empty()) {
               return absl::InvalidArgumentError("llama option 'mmproj': no path");
             }
             o.mmproj = std::string(v.text);
             return absl::OkStatus();
           }},
    Option{"backends",
           [](Value v, LlamaOptions& o) {
             o.backends = std::string(v.text);
             return absl::OkStatus();
           }},
};

absl::Status SetOption(Value value, LlamaOptions& options) {
  std::string known;
  for (const Option& option : kOptions) {
    if (option.key == value.key) return option.set(value, options);
    absl::StrAppend(&known, " ", option.key);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the llama engine has no option '", value.key, "'; it has:", known));
}

}  // namespace

absl::StatusOr<LlamaOptions> ParseLlamaOptions(const EngineConfig& config) {
  LlamaOptions options;
  for (const auto& [key, text] : config.options) {
    if (absl::Status status = SetOption({key, text}, options); !status.ok()) return status;
  }
  if (options.exact && options.flash_attention == LlamaFlashAttention::kOn) {
    return absl::InvalidArgumentError("llama option 'exact' is without flash attention");
  }
  return options;
}

}  // namespace superfluid
