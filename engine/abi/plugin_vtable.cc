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
static_assert(sizeof(sfl_host) == 24 && sizeof(sfl_config) == 40 && sizeof(sfl_option) == 32);
static_assert(sizeof(sfl_engine_info) == 216 && sizeof(sfl_memory) == 56);
static_assert(sizeof(sfl_audio_block) == 16 && sizeof(sfl_audio) == 32);
static_assert(sizeof(sfl_word) == 40 && sizeof(sfl_segment) == 80);
static_assert(sizeof(sfl_transcription_params) == 40 && sizeof(sfl_step) == 40);
static_assert(sizeof(sfl_progress) == 88);
static_assert(offsetof(sfl_engine_vtable, create) == 8);
static_assert(offsetof(sfl_engine_vtable, transcription_start) == 48);
static_assert(kMinVtableSize == 80);
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
  return absl::OkStatus();
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
  std::memcpy(&copy, table, std::min<size_t>(header[0], sizeof copy));
  if (absl::Status status = CheckFunctions(copy); !status.ok()) return status;
  return copy;
}

}  // namespace superfluid
