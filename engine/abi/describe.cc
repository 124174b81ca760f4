#include "engine/abi/describe.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/abi/plugin_call.h"
#include "engine/abi/plugin_vtable.h"
#include "engine/abi/text.h"

namespace superfluid {
namespace {

constexpr size_t kFirstOutputBytes = 16384;
// The first try, one with the room asked for, one more for an answer that grew in between.
constexpr int kTries = 3;
constexpr int64_t kMaxMicroStepUs = 60'000'000;
constexpr uint32_t kMaxInt = std::numeric_limits<int>::max();

struct Description {
  sfl_engine_info info;
  std::string capabilities;  // cut to the room there was
  size_t capabilities_bytes = 0;
};

absl::StatusOr<Description> CallDescribe(const sfl_engine_vtable& functions, sfl_engine* engine,
                                         ErrorBuffer& error, size_t room) {
  GuardedBuffer info_memory(sizeof(sfl_engine_info));
  auto* const info = reinterpret_cast<sfl_engine_info*>(info_memory.data());
  info->struct_size = sizeof(sfl_engine_info);
  GuardedBuffer text(room);
  sfl_output output = {text.data(), text.capacity(), 0};
  const absl::Status status = CallPlugin("describe", error, [&](sfl_error* message) {
    return functions.describe(engine, info, &output, message);
  });
  if (!status.ok()) return status;
  if (!info_memory.intact() || !text.intact()) {
    return absl::InternalError("describe: the engine wrote past the end of what it was given");
  }
  // From the buffer's own data: the plug-in may have changed the pointer in `output`.
  return Description{*info, std::string(text.data(), std::min(output.size, room)), output.size};
}

bool IsEngineName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
}

absl::Status CheckInfo(const sfl_engine_info& info) {
  if (!IsEngineName(TextOfArray(info.name, sizeof info.name))) {
    return absl::InternalError("describe: the engine's name is empty or has odd characters");
  }
  if (info.max_transcriptions > kMaxInt || info.max_lanes > kMaxInt || info.micro_step_us < 0 ||
      info.micro_step_us > kMaxMicroStepUs) {
    return absl::InternalError("describe: a number is out of its range");
  }
  return absl::OkStatus();
}

absl::Status CheckClaims(const sfl_engine_vtable& functions, const sfl_engine_info& info) {
  if (info.max_transcriptions > 0 && functions.transcription_start == nullptr) {
    return BrokenRule("describe", "claims transcription but has no function");
  }
  if (info.generation != 0 && !HasGeneration(functions)) {
    return BrokenRule("describe", "claims generation but has no function");
  }
  if (info.generation != 0 && info.vocab_size == 0) {
    return BrokenRule("describe", "claims generation but has no vocabulary");
  }
  if (info.max_lanes > 0 && (info.generation == 0 || functions.run_tick == nullptr)) {
    return BrokenRule("describe", "claims lanes but does not run ticks");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> CheckedJson(std::string json) {
  // The parser takes a NUL for the end of the text and does not look at what follows.
  if (json.find('\0') != std::string::npos) {
    return absl::InternalError("describe: the engine's capabilities contain a NUL");
  }
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    return absl::InternalError("describe: the engine's capabilities are no JSON object");
  }
  return json;
}

}  // namespace

absl::StatusOr<PluginDescription> DescribePlugin(const sfl_engine_vtable& functions,
                                                 sfl_engine* engine, ErrorBuffer& error) {
  const absl::StatusOr<Description> description =
      CallDescribe(functions, engine, error, kFirstOutputBytes);
  if (!description.ok()) return description.status();
  const sfl_engine_info& raw = description->info;
  if (absl::Status status = CheckInfo(raw); !status.ok()) return status;
  if (absl::Status status = CheckClaims(functions, raw); !status.ok()) return status;
  PluginDescription result;
  result.generates = raw.generation != 0;
  EngineInfo& info = result.info;
  info.name = std::string{TextOfArray(raw.name, sizeof raw.name)};
  info.version = ValidUtf8(TextOfArray(raw.version, sizeof raw.version));
  if (raw.micro_step_us > 0) info.micro_step = absl::Microseconds(raw.micro_step_us);
  info.max_transcriptions = static_cast<int>(raw.max_transcriptions);
  info.max_lanes = static_cast<int>(raw.max_lanes);
  info.kv_bits = raw.kv_bits;
  info.vocab_size = raw.vocab_size;
  return result;
}

absl::StatusOr<std::string> PluginCapabilities(const sfl_engine_vtable& functions,
                                               sfl_engine* engine, ErrorBuffer& error) {
  size_t room = kFirstOutputBytes;
  for (int i = 0; i < kTries; ++i) {
    absl::StatusOr<Description> description = CallDescribe(functions, engine, error, room);
    if (!description.ok()) return description.status();
    if (description->capabilities_bytes <= room) {
      return CheckedJson(std::move(description->capabilities));
    }
    if (description->capabilities_bytes > SFL_MAX_OUTPUT_BYTES) break;
    room = description->capabilities_bytes;
  }
  return absl::InternalError("describe: the engine's capabilities are too long");
}

}  // namespace superfluid
