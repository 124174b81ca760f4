#ifndef SUPERFLUID_ENGINE_SDK_PLUGIN_H_
#define SUPERFLUID_ENGINE_SDK_PLUGIN_H_

#include <cstdint>

#include "engine/abi/superfluid_engine.h"
#include "engine/sdk/shim.h"

// Makes a plug-in out of a C++ engine, in one line of a .cc file that is linked into a shared
// library (see plugin.bzl):
//
//   SUPERFLUID_ENGINE_PLUGIN(superfluid::MakePocketsphinxEngine)
//
// `factory` is a function StatusOr<unique_ptr<Engine>>(const EngineConfig&). The engine's info()
// must not change over its life. Statuses and exceptions of the engine reach the host as error
// codes with their text.
//
// Threads: the engine sees one thread, as engine.h says. Lifetime: the AudioSource, SegmentSink and
// CancelToken that the engine gets are views of the host's; the source may be read during
// StartTranscription and Step only.
#define SUPERFLUID_ENGINE_PLUGIN(factory)                                                         \
  extern "C" SFL_EXPORT const sfl_engine_vtable* superfluid_engine_entry(uint32_t host_version) { \
    return ::superfluid::sdk::PluginVtable<factory>(host_version);                                \
  }

#endif  // SUPERFLUID_ENGINE_SDK_PLUGIN_H_
