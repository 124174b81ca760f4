#ifndef SUPERFLUID_TOOLS_WORKER_ENGINE_LOG_H_
#define SUPERFLUID_TOOLS_WORKER_ENGINE_LOG_H_

#include "engine/engine.h"

namespace superfluid {

// Has an engine that is made with `config` log what it says (`engine.says`), and its host what it
// notices (`engine.misbehaves`, `engine.slow_step`).
void SendToLog(EngineConfig& config);

// Logs that there are more compute threads than cores: some engines take no more than the cores
// anyway, others become slow.
void NoteTooManyThreads(int threads);

// Logs that an engine on the CPU takes no notice of its --device.
void NoteUnusedDevice(const Engine& engine, int device);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_ENGINE_LOG_H_
