#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_TICK_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_TICK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/cancel_token.h"
#include "engine/llama/llama_world.h"
#include "engine/tick.h"

namespace superfluid {

inline constexpr size_t kLlamaMaxLanes = 256;

// As Generation::RunTick. Lanes are prepared in order, then computed in passes: each takes one
// share of every lane that is not done, those that draw first, as far as a pass has room. Between
// two passes, and two draws, the lane's stop and the tick's token are looked at; inside a pass the
// token is (LlamaDecoder). The token set, lanes that are not done end with kStopped: with their
// whole input if they were prepared, and as they were otherwise.
//
// An image's tokens are computed in passes without others, which are as large as those of text;
// those of several lanes together, except where they see each other (some models' images), which is
// one lane's image a pass, however large it is. With lanes of both kinds the passes alternate.
//
// If the KV cache has no room for a pass, lanes fail with ResourceExhausted, the last first, until
// it has.
//
// Errors: InvalidArgument (no lanes, more than kLlamaMaxLanes, a tag or sequence twice). A failure
// of the library fails the lanes of that pass with Internal.
absl::StatusOr<std::vector<LaneResult>> RunLlamaTick(LlamaWorld& world, const Tick& tick,
                                                     const CancelToken& token, TickHost& host);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_TICK_H_
