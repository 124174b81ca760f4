#include "engine/abi/plugin_vtable.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

// A larger size is garbage rather than a table from the future.
constexpr uint32_t kMaxVtableSize = 1U << 16U;

// What plug-ins were compiled with must never move.
static_assert(sizeof(void*) == 8, "the interface is laid out for 64-bit machines");
static_assert(sizeof(sfl_host) == 32 && sizeof(sfl_config) == 40 && sizeof(sfl_option) == 32);
static_assert(sizeof(sfl_engine_info) == 224 && sizeof(sfl_memory) == 56);
static_assert(sizeof(sfl_audio_block) == 16 && sizeof(sfl_audio) == 40);
static_assert(sizeof(sfl_word) == 40 && sizeof(sfl_segment) == 80);
static_assert(sizeof(sfl_transcription_params) == 40 && sizeof(sfl_step) == 40);
static_assert(sizeof(sfl_progress) == 88);
static_assert(offsetof(sfl_engine_vtable, create) == 8);
static_assert(offsetof(sfl_engine_vtable, transcription_start) == 48);
static_assert(kMinVtableSize == 80);
static_assert(sizeof(sfl_call) == 32);
static_assert(sizeof(sfl_list) == 32 && sizeof(sfl_digest) == 32 && sizeof(sfl_token_logit) == 8);
static_assert(sizeof(sfl_lane) == 160 && sizeof(sfl_lane_result) == 64 && sizeof(sfl_tick) == 88);
static_assert(sizeof(sfl_state_space) == 320 && sizeof(sfl_state_range) == 40);
static_assert(sizeof(sfl_export_size) == 24 && sizeof(sfl_state_export) == 48);
static_assert(sizeof(sfl_state_import) == 80 && sizeof(sfl_state_step) == 32);
static_assert(sizeof(sfl_state_progress) == 16 && sizeof(sfl_prefix) == 48);
static_assert(sizeof(sfl_space_match) == 16 && sizeof(sfl_lease) == 32);
static_assert(sizeof(sfl_evict_policy) == 24 && sizeof(sfl_cache_key) == 64);
static_assert(sizeof(sfl_stage) == 48 && sizeof(sfl_stage_result) == 16);
static_assert(sizeof(sfl_media_info) == 32 && sizeof(sfl_built_in_strategy) == 520);
static_assert(sizeof(sfl_strategy_artifact) == 64 && sizeof(sfl_strategy_tap) == 16);
static_assert(sizeof(sfl_strategy_requirement) == 24 && sizeof(sfl_strategy) == 200);
static_assert(sizeof(sfl_certificate) == 40 && sizeof(sfl_strategy_terms) == 112);
static_assert(offsetof(sfl_engine_vtable, state_spaces) == 80);
static_assert(offsetof(sfl_engine_vtable, end_session) == sizeof(sfl_engine_vtable) - 8);
static_assert(std::is_trivially_copyable_v<sfl_engine_vtable>);

absl::Status CheckHeader(uint32_t struct_size, uint32_t abi_version) {
  if (abi_version != SFL_ABI_VERSION) {
    return absl::FailedPreconditionError(
        absl::StrCat("made for version ", abi_version,
                     " of the engine interface; this worker has version ", SFL_ABI_VERSION));
  }
  if (struct_size < kMinVtableSize || struct_size > kMaxVtableSize) {
    return absl::InvalidArgumentError(absl::StrCat("its table of functions claims ", struct_size,
                                                   " bytes; at least ", kMinVtableSize,
                                                   " are needed"));
  }
  return absl::OkStatus();
}

// What is made must be freed: "`maker` without `freer`".
absl::Status CheckPairs(const sfl_engine_vtable& table) {
  const struct {
    bool has_maker;
    bool has_freer;
    const char* text;
  } pairs[] = {
      {table.run_tick != nullptr, table.free_sequence != nullptr,
       "`run_tick` without `free_sequence`"},
      {table.create_sequence != nullptr, table.free_sequence != nullptr,
       "`create_sequence` without `free_sequence`"},
      {table.fork != nullptr, table.free_sequence != nullptr, "`fork` without `free_sequence`"},
      {table.export_start != nullptr, table.state_step != nullptr && table.state_free != nullptr,
       "`export_start` without `state_step` and `state_free`"},
      {table.import_start != nullptr, table.state_step != nullptr && table.state_free != nullptr,
       "`import_start` without `state_step` and `state_free`"},
      {table.acquire_seed != nullptr, table.release_seed != nullptr,
       "`acquire_seed` without `release_seed`"},
      {table.adopt_sequence != nullptr, table.release_seed != nullptr,
       "`adopt_sequence` without `release_seed`"},
      {table.create_grammar != nullptr, table.free_grammar != nullptr,
       "`create_grammar` without `free_grammar`"},
      {table.create_structural_grammar != nullptr, table.free_grammar != nullptr,
       "`create_structural_grammar` without `free_grammar`"},
      {table.create_logit_bias != nullptr, table.free_logit_bias != nullptr,
       "`create_logit_bias` without `free_logit_bias`"},
      {table.encode_media != nullptr, table.release_media != nullptr,
       "`encode_media` without `release_media`"},
  };
  for (const auto& pair : pairs) {
    if (pair.has_maker && !pair.has_freer) {
      return absl::InvalidArgumentError(absl::StrCat("it has the function ", pair.text));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFunctions(const sfl_engine_vtable& table) {
  if (table.create == nullptr) return absl::InvalidArgumentError("it has no function `create`");
  if (table.destroy == nullptr) return absl::InvalidArgumentError("it has no function `destroy`");
  if (table.describe == nullptr) {
    return absl::InvalidArgumentError("it has no function `describe`");
  }
  const int transcription = (table.transcription_start != nullptr ? 1 : 0) +
                            (table.transcription_step != nullptr ? 1 : 0) +
                            (table.transcription_progress != nullptr ? 1 : 0) +
                            (table.transcription_free != nullptr ? 1 : 0);
  if (transcription != 0 && transcription != 4) {
    return absl::InvalidArgumentError("it has some of the transcription functions, but not all");
  }
  return CheckPairs(table);
}

}  // namespace

absl::StatusOr<sfl_engine_vtable> ReadVtable(const sfl_engine_vtable* table) {
  if (table == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("it does not support version ", SFL_ABI_VERSION, " of the engine interface"));
  }
  uint32_t header[2];
  std::memcpy(header, table, sizeof header);
  if (absl::Status status = CheckHeader(header[0], header[1]); !status.ok()) return status;
  sfl_engine_vtable copy = {};
  // Half a pointer is no pointer.
  const size_t whole = header[0] - header[0] % sizeof(void*);
  std::memcpy(&copy, table, std::min(whole, sizeof copy));
  if (absl::Status status = CheckFunctions(copy); !status.ok()) return status;
  return copy;
}

bool HasGeneration(const sfl_engine_vtable& table) {
  // Functions of the copy that the plug-in does not have are zero.
  constexpr size_t first = offsetof(sfl_engine_vtable, state_spaces);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&table);
  return std::any_of(bytes + first, bytes + sizeof table, [](unsigned char b) { return b != 0; });
}

}  // namespace superfluid
