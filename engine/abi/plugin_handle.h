#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_HANDLE_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_HANDLE_H_

#include "engine/abi/engine_thread.h"
#include "engine/abi/host_log.h"
#include "engine/abi/slow_steps.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// What the parts of a PluginEngine (jobs, generation) need of it. It outlives them.
struct PluginHandle {
  const sfl_engine_vtable* functions = nullptr;
  sfl_engine* engine = nullptr;
  const HostLog* log = nullptr;
  const EngineThread* thread = nullptr;
  SlowSteps* slow_steps = nullptr;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_HANDLE_H_
