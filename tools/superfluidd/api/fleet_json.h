#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_FLEET_JSON_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_FLEET_JSON_H_

#include "tools/ctl/formats/json_text.h"
#include "tools/superfluidd/fleet/speech_service.h"

// The fleet as JSON, for /ready, /v1/status and the console. Pure functions.
namespace superfluid::daemon {

ctl::Json SummaryJson(const FleetSummary& summary);

// {status, queued, active, draining, workers[], requests[]}
ctl::Json FleetJson(const FleetView& view);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_FLEET_JSON_H_
