#ifndef SUPERFLUID_ENGINE_GENERATION_SESSION_TICK_H_
#define SUPERFLUID_ENGINE_GENERATION_SESSION_TICK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/cancel_token.h"
#include "engine/generation/session.h"
#include "engine/tick.h"

namespace superfluid {

// As Generation::RunTick. Lanes are prepared in order, then computed in passes: each takes one
// share of every lane that is not done, those that draw first, as far as a pass has room. Between
// two passes, and two draws, the lane's stop and the tick's token are looked at; inside a pass the
// model looks at the token (TokenModel::Decode). The token set, lanes that are not done end with
// kStopped: with their whole input, but for lanes of an eager model whose input, which would have
// to be computed, was not appended yet: these are left as they were.
//
// What stands for media is computed in passes without others, which are as large as those of text;
// that of several lanes together, except where tokens see each other (some models' images), which
// is one lane's image a pass, however large it is. With lanes of both kinds the passes alternate.
//
// If there is no room for a pass, lanes fail with ResourceExhausted, the last first, until there
// is.
//
// Errors: InvalidArgument (no lanes, more than TokenModel::kMaxLanes, a tag or sequence
// twice); those of TokenModel::BeginTick. A failure of the model fails the lanes of that pass.
absl::StatusOr<std::vector<LaneResult>> RunSessionTick(Session& session, const Tick& tick,
                                                       const CancelToken& token, TickHost& host);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_SESSION_TICK_H_
