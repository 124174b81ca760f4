#ifndef SUPERFLUID_ENGINE_ABI_PLUGIN_ENGINE_H_
#define SUPERFLUID_ENGINE_ABI_PLUGIN_ENGINE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/abi/engine_thread.h"
#include "engine/abi/guarded_buffer.h"
#include "engine/abi/host_log.h"
#include "engine/abi/plugin_generation.h"
#include "engine/abi/plugin_handle.h"
#include "engine/abi/slow_steps.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid {

// A plug-in as an Engine. Whatever the plug-in hands over is copied, checked and, where it can be,
// repaired; where it cannot, the call returns Internal. See superfluid_engine.h for the limits.
//
// Threads: the thread that creates it. Any other ends the process (EngineThread), destruction
// included. Lifetime: the plug-in's library must stay loaded.
class PluginEngine : public Engine {
 public:
  // Errors: those of ReadVtable; the plug-in's about its model and options; Internal if it breaks
  // the rules, or describes itself with nonsense.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(const sfl_engine_vtable* table,
                                                        const EngineConfig& config);

  PluginEngine(const PluginEngine&) = delete;
  PluginEngine& operator=(const PluginEngine&) = delete;
  ~PluginEngine() override;

  const EngineInfo& info() const override;
  // `{}` if the plug-in's own answer is no JSON object or too long.
  std::string CapabilitiesJson() const override;
  MemoryCounters Memory() const override;
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& params, std::unique_ptr<AudioSource> audio) override;
  Generation* generation() override { return generation_.get(); }
  void Reset() override;

 private:
  PluginEngine(const sfl_engine_vtable& functions, const EngineConfig& config);

  absl::Status CreateInPlugin(const EngineConfig& config);
  absl::Status Describe();
  PluginHandle Handle() { return {&functions_, engine_, &log_, &thread_, &slow_steps_}; }

  const EngineThread thread_;
  const sfl_engine_vtable functions_;
  HostLog log_;
  sfl_engine* engine_ = nullptr;
  EngineInfo info_;
  SlowSteps slow_steps_;
  std::unique_ptr<PluginGeneration> generation_;  // null: none
  mutable ErrorBuffer error_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_PLUGIN_ENGINE_H_
