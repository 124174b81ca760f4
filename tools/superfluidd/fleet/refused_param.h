#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_REFUSED_PARAM_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_REFUSED_PARAM_H_

#include <string>

#include "tools/superfluidd/fleet/speech_service.h"

namespace superfluid::daemon {

// Returns which field of a request its worker cannot have liked, by the capabilities that the
// worker lists (HELLO_ACK_W): "prompt" of an engine that takes none, "language" if it is not among
// those of the engine. Empty: they do not tell. Pure.
std::string RefusedParam(const SpeechRequest& request, const std::string& capabilities_json);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_FLEET_REFUSED_PARAM_H_
