#ifndef SUPERFLUID_TOOLS_WORKER_ENGINE_LOG_H_
#define SUPERFLUID_TOOLS_WORKER_ENGINE_LOG_H_

#include "engine/engine.h"

namespace superfluid {

// Has an engine that is made with `config` log what it says (`engine.says`), and its host what it
// notices (`engine.misbehaves`, `engine.slow_step`).
void SendToLog(EngineConfig& config);

// Returns the compute threads of an engine for which `wanted` are asked: no more than the CPUs that
// the process may use, by affinity and by the quota of its cgroup, and as many as those for 0. Logs
// that they are fewer than wanted.
int ComputeThreads(int wanted);

// Logs that an engine on the CPU takes no notice of its --device.
void NoteUnusedDevice(const Engine& engine, int device);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_ENGINE_LOG_H_
