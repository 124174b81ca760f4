#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_WORKER_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_WORKER_TEXT_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/formats/json_text.h"

// What a worker says about itself and its state, as text and as JSON. Pure functions.
namespace superfluid::ctl {

std::string InfoText(const linkw::HelloAck& hello);
Json InfoJson(const linkw::HelloAck& hello);

// One line a ping. `round_trip`: measured here.
std::string PongText(const linkw::Pong& pong, absl::Duration round_trip);
Json PongJson(const linkw::Pong& pong, absl::Duration round_trip);

// A line a counter.
std::string MemoryText(const linkw::MemCounters& mem);
Json MemoryJson(const linkw::MemCounters& mem);

// "idle", "busy", "stalled" ...
std::string_view EngineStateName(linkw::EngineState state);
// The same, and of one that is loading how much it has, as far as it says: "loading 42 %".
std::string EngineStateText(const linkw::Pong& pong);

// How long the worker runs, and who looks: "up 2 h 5 min", "driver 1234 for 45 s", "1 observer",
// each with its separator in front. What the worker does not say is left out.
std::string WorkerFactsText(const linkw::Pong& pong, std::string_view separator);
// The same as members.
void AddWorkerFacts(const linkw::Pong& pong, Json* json);

// 64 hexadecimal digits.
std::string HashText(const linkw::Hash& hash);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_WORKER_TEXT_H_
