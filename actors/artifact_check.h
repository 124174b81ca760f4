#ifndef SUPERFLUID_ACTORS_ARTIFACT_CHECK_H_
#define SUPERFLUID_ACTORS_ARTIFACT_CHECK_H_

#include <string>

#include "actors/state_ops_interface.h"
#include "protocol/strategy_messages.h"

namespace superfluid {

// Opens the artifacts of a strategy below `root` and compares size and SHA-256 of each with what
// the peer claims. The strategy in the result names the open files, so the engine reads what was
// checked, whatever happens to the names. Reads whole files: not for the hot path.
//
// Errors (in the result): InvalidArgument (size or hash differs, too much in all), and those of
// OpenUnderRoot. Threads: any.
ArtifactsChecked OpenArtifacts(const std::string& root, const linkw::StrategyRegister& strategy);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ARTIFACT_CHECK_H_
