#ifndef SUPERFLUID_ENGINE_HANDLES_H_
#define SUPERFLUID_ENGINE_HANDLES_H_

#include <array>
#include <cstdint>

namespace superfluid {

// What an engine hands out to be named again. Zero means "none", except where a comment says
// otherwise. A handle is never reused while its engine lives, so that a stale one is not found
// rather than mistaken. The host refuses handles that the engine did not hand out, or that were
// freed, before the engine sees them.
enum class SequenceHandle : uint64_t {};  // a token sequence with its state; 0 in a lane: a new one
enum class SeedHandle : uint64_t {};      // a lease on a cached prefix
enum class GrammarHandle : uint64_t {};   // 0: no grammar
enum class LogitBiasHandle : uint64_t {};  // 0: no bias
enum class MediaHandle : uint64_t {};      // encoded media
enum class StrategySlot : uint32_t {};     // a speculative decoding strategy; 0: none
enum class AdapterId : uint64_t {};        // a loaded adapter; 0: none

// Chosen by the daemon: names a lane across ticks. 0 is a valid one.
enum class LaneTag : uint64_t {};
// A state space of the engine, as its StateSpace says; 0 is a valid one.
enum class SpaceId : uint32_t {};

// An index into the model's vocabulary.
using Token = uint32_t;

// A SHA-256, or what is compared like one.
using Digest = std::array<uint8_t, 32>;

// Token positions [start, end) of a sequence, start <= end.
struct TokenRange {
  uint64_t start = 0;
  uint64_t end = 0;
  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_HANDLES_H_
