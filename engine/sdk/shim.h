#ifndef SUPERFLUID_ENGINE_SDK_SHIM_H_
#define SUPERFLUID_ENGINE_SDK_SHIM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid::sdk {

// The plug-in's side of the C interface over a C++ Engine. What plugin.h's one line expands to;
// nothing else needs it. Threads and lifetimes are those of superfluid_engine.h.
using EngineFactory = absl::StatusOr<std::unique_ptr<Engine>> (*)(const EngineConfig&);

// sfl_engine_vtable::create, for the engine that `factory` makes.
sfl_status CreateEngine(EngineFactory factory, const sfl_config* config, const sfl_host* host,
                        sfl_engine** engine, sfl_error* error) noexcept;

// The table with everything but `create`.
sfl_engine_vtable TableWithoutCreate() noexcept;

// The table of the plug-in whose factory is `Factory`; null for a host of another version.
template <absl::StatusOr<std::unique_ptr<Engine>> (*Factory)(const EngineConfig&)>
const sfl_engine_vtable* PluginVtable(uint32_t host_version) noexcept {
  static const sfl_engine_vtable kTable = [] {
    sfl_engine_vtable filled = TableWithoutCreate();
    filled.create = [](const sfl_config* config, const sfl_host* host, sfl_engine** engine,
                       sfl_error* error) {
      return CreateEngine(Factory, config, host, engine, error);
    };
    return filled;
  }();
  return host_version == SFL_ABI_VERSION ? &kTable : nullptr;
}

}  // namespace superfluid::sdk

#endif  // SUPERFLUID_ENGINE_SDK_SHIM_H_
