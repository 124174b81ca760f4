#ifndef SUPERFLUID_ENGINE_ABI_DESCRIBE_H_
#define SUPERFLUID_ENGINE_ABI_DESCRIBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/abi/guarded_buffer.h"
#include "engine/abi/superfluid_engine.h"
#include "engine/engine.h"

namespace superfluid {

struct PluginDescription {
  EngineInfo info;
  bool generates = false;  // tokens
};

// What a plug-in says of itself. Errors: the plug-in's; Internal if it writes past what it was
// given, names itself with other characters than [A-Za-z0-9_-], claims numbers that cannot be, or
// things that it has no function for.
// Threads: the engine's.
absl::StatusOr<PluginDescription> DescribePlugin(const sfl_engine_vtable& functions,
                                                 sfl_engine* engine, ErrorBuffer& error);

// Its capabilities: a JSON object of at most SFL_MAX_OUTPUT_BYTES. Errors: as above; Internal if
// they are no JSON object, too long, or longer at each call.
absl::StatusOr<std::string> PluginCapabilities(const sfl_engine_vtable& functions,
                                               sfl_engine* engine, ErrorBuffer& error);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_DESCRIBE_H_
