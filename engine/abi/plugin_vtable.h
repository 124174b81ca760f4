#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_VTABLE_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_VTABLE_H_

#include "absl/status/statusor.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// The smallest table that a host of this version accepts: everything up to transcription_free.
inline constexpr uint32_t kMinVtableSize =
    offsetof(sfl_engine_vtable, transcription_free) + sizeof(void (*)());

// Copies and checks a plug-in's table; functions that the plug-in does not have are null in the
// copy. Errors: FailedPrecondition (null, another ABI version), InvalidArgument (a size that cannot
// be, a function missing that must be there, some but not all of the transcription functions, one
// that makes something without the one that frees it).
// Threads: any.
absl::StatusOr<sfl_engine_vtable> ReadVtable(const sfl_engine_vtable* table);

// Whether a table that was read has any function for generating.
bool HasGeneration(const sfl_engine_vtable& table);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_VTABLE_H_
