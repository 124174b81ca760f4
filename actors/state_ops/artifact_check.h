#ifndef SUPERFLUID_ACTORS_STATE_OPS_ARTIFACT_CHECK_H_
#define SUPERFLUID_ACTORS_STATE_OPS_ARTIFACT_CHECK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/type_ids.h"
#include "actors/runtime/caf_compat.h"
#include "engine/cancel_token.h"
#include "protocol/messages/strategy_messages.h"

namespace superfluid {

// Compare the artifacts of a strategy with their hashes and sizes; answered by one
// ArtifactsChecked. From Dispatcher.
struct CheckArtifacts {
  uint64_t seq = 0;
  std::shared_ptr<const linkw::StrategyRegister> strategy;
  std::shared_ptr<const CancelToken> token;
};
// `strategy` names paths that the engine can open while `files` is held.
struct ArtifactsChecked {
  uint64_t seq = 0;
  absl::Status status;
  std::shared_ptr<const linkw::StrategyRegister> strategy;
  std::shared_ptr<const void> files;
};

// Reads whole files, so it has a thread of its own, made for the first strategy of a link. Ends
// with the link's dispatcher.
using ArtifactChecker = compat::Handle<caf::result<void>(CheckArtifacts)>;

ArtifactChecker::behavior_type ArtifactCheckerBehavior(ArtifactChecker::pointer self,
                                                       std::string root, Dispatcher dispatcher);

// Opens the artifacts of a strategy below `root` and compares size and SHA-256 of each with what
// the peer claims. The strategy in the result names the open files, so the engine reads what was
// checked, whatever happens to the names. Looks at `token` between blocks.
//
// Errors (in the result): InvalidArgument (size or hash differs, too much in all), Cancelled, and
// those of OpenUnderRoot. Threads: any.
ArtifactsChecked OpenArtifacts(const std::string& root, const linkw::StrategyRegister& strategy,
                               const CancelToken& token);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_ARTIFACT_CHECK_H_
