#ifndef SUPERFLUID_ENGINE_ABI_SERVED_CALLS_H_
#define SUPERFLUID_ENGINE_ABI_SERVED_CALLS_H_

#include <string>

#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid {

// Returns an engine's capabilities with the "calls" that its table of functions serves, where they
// do not say it themselves. What is no JSON object stays as it is. `generates`: what describe said
// about generation; without it only speech counts. Pure.
std::string WithServedCalls(std::string json, const sfl_engine_vtable& functions,
                            const EngineInfo& info, bool generates);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_SERVED_CALLS_H_
