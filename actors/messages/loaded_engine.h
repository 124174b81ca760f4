#ifndef SUPERFLUID_ACTORS_MESSAGES_LOADED_ENGINE_H_
#define SUPERFLUID_ACTORS_MESSAGES_LOADED_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "engine/engine.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// What links need to know of an engine. Constant from the end of loading on.
struct LoadedEngine {
  linkw::HelloAck hello;  // filled in but for version and token
  EngineInfo info;
  bool generates = false;
  uint64_t context_tokens = 0;  // of a sequence at most; 0: not known
  std::shared_ptr<const std::vector<StateSpace>> spaces;
  absl::Duration stall;  // a step longer than this is reported as a stall
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_LOADED_ENGINE_H_
