#ifndef SUPERFLUID_PROTOCOL_MESSAGES_IDS_H_
#define SUPERFLUID_PROTOCOL_MESSAGES_IDS_H_

#include <array>
#include <cstdint>

namespace superfluid::linkw {

// Ids that must not be mixed up. Zero means "none", except where a comment says otherwise.
enum class RingId : uint32_t {};
enum class BufId : uint64_t {};
enum class OpHandle : uint64_t {};
enum class SequenceId : uint64_t {};  // 0 in a lane: start a new one
enum class SpaceId : uint32_t {};     // a state space of the engine; 0 is a valid one
enum class SeedHandle : uint64_t {};
enum class GrammarHandle : uint64_t {};
enum class LogitBiasHandle : uint64_t {};
enum class MediaHandle : uint64_t {};
enum class LaneTag : uint64_t {};       // chosen by the daemon; 0 is a valid one
enum class StrategySlot : uint32_t {};  // 0: no speculative decoding
enum class LoraId : uint64_t {};        // 0: no adapter is loaded

using Token = uint32_t;

using Hash = std::array<uint8_t, 32>;       // SHA-256
using LinkToken = std::array<uint8_t, 16>;  // opens the fds connection

// The tags of the fds channel: a ring's id, a buffer's id, or this.
inline constexpr uint64_t kControlTag = ~uint64_t{0};

inline constexpr RingId kTokenInRing{1};
inline constexpr RingId kTokenOutRing{2};
inline constexpr RingId kLogitsRing{3};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_MESSAGES_IDS_H_
