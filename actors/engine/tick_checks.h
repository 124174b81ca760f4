#ifndef SUPERFLUID_ACTORS_ENGINE_TICK_CHECKS_H_
#define SUPERFLUID_ACTORS_ENGINE_TICK_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "actors/engine/handle_book.h"
#include "engine/engine.h"
#include "protocol/messages/tick_messages.h"

namespace superfluid {

// What a lane is held against.
struct LaneContext {
  const EngineInfo& info;
  const HandleBook& handles;
};

// Returns whether CheckLane would find nothing; makes no text.
bool IsLaneFine(const LaneContext& context, const linkw::Lane& lane, absl::Span<const Token> input);

// Returns what is wrong with a lane by itself. Errors: InvalidArgument, UNKNOWN_HANDLE,
// OUT_OF_MEMORY (no room for a new sequence).
absl::Status CheckLane(const LaneContext& context, const linkw::Lane& lane,
                       absl::Span<const Token> input);

// Returns whether all tokens are of the engine's vocabulary.
bool AllInVocabulary(const EngineInfo& info, absl::Span<const Token> tokens);

// The most drawn tokens that a lane can have asked for.
uint32_t MostTokens(const linkw::Lane& lane);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_TICK_CHECKS_H_
