#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_METRICS_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_METRICS_TEXT_H_

#include <cstdint>
#include <map>
#include <string>

#include "protocol/messages/messages.h"

namespace superfluid::ctl {

// Returns a worker's figures as OpenMetrics text, which readers of Prometheus' older text take too:
// only counters and gauges, each with its help, then "# EOF". Names begin with "superfluid_"; units
// are seconds and bytes. `counters` are those of its telemetry, by name; one that is not known here
// is a gauge of its own name. Pure.
std::string MetricsText(const linkw::HelloAck& hello, const linkw::Pong& pong,
                        const std::map<std::string, uint64_t>& counters);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_METRICS_TEXT_H_
