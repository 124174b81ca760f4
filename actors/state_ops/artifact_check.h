#ifndef SUPERFLUID_ACTORS_STATE_OPS_ARTIFACT_CHECK_H_
#define SUPERFLUID_ACTORS_STATE_OPS_ARTIFACT_CHECK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "actors/messages/dispatcher_interface.h"
#include "engine/cancel_token.h"
#include "protocol/messages/strategy_messages.h"

namespace superfluid {

// Opens the artifacts of a strategy below `root` and compares size and SHA-256 of each with what
// the peer claims. The strategy in the result names the open files, so the engine reads what was
// checked, whatever happens to the names. Looks at `token` between blocks.
//
// Errors (in the result): InvalidArgument (size or hash differs, too much in all), Cancelled,
// Internal (it cannot be read), and those of OpenUnderRoot, of which ResourceExhausted is
// OUT_OF_MEMORY. Threads: any; blocks for as long as reading takes, for ever on a mount
// that hangs.
ArtifactsChecked OpenArtifacts(const std::string& root, const linkw::StrategyRegister& strategy,
                               const CancelToken& token);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_ARTIFACT_CHECK_H_
