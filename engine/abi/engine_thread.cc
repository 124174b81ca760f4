#include "engine/abi/engine_thread.h"

#include <cstdio>
#include <cstdlib>

namespace superfluid {

void EngineThread::Die(const char* call) {
  std::fprintf(stderr, "fatal: engine call '%s' on another thread than the engine's\n", call);
  std::abort();
}

}  // namespace superfluid
