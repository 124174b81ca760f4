#ifndef SUPERFLUID_ENGINE_SIM_SIM_MODEL_H_
#define SUPERFLUID_ENGINE_SIM_SIM_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/types/span.h"
#include "engine/handles.h"

namespace superfluid {

inline constexpr SpaceId kSimKvSpace{0};
inline constexpr SpaceId kSimRecurrentSpace{1};
inline constexpr size_t kSimRowBytes = 32;
inline constexpr size_t kSimRecurrentBytes = 64;
// Tokens of a cache block, and the boundary of the recurrent space.
inline constexpr uint64_t kSimBlockTokens = 16;

// The state of one token in the space "kv". What the row does not keep of a sequence (whether the
// token was drawn) is added when it is encoded.
struct SimRow {
  Token token = 0;
  uint64_t media = 0;  // fingerprint of the media that the token stands for; 0: none
  uint64_t key = 0;    // these two: functions of everything up to and including the token
  uint64_t value = 0;
  friend bool operator==(const SimRow&, const SimRow&) = default;
};

// The state of the space "recurrent": a function of all tokens so far, of constant size.
using SimRecurrent = std::array<uint64_t, kSimRecurrentBytes / sizeof(uint64_t)>;

// What the next token is a function of: all rows, folded, and the recurrent state.
struct SimPoint {
  uint64_t position = 0;  // tokens so far
  uint64_t rows = 0;      // fold of all rows
  SimRecurrent recurrent{};
};

// A token on its way into a sequence. `adapter`: fingerprint of the adapter; 0: none.
struct SimInput {
  Token token = 0;
  uint64_t media = 0;
  uint64_t adapter = 0;
};

// The point before the first token.
SimPoint SimStartPoint();

// Computes the row of the token that follows `point`.
SimRow MakeSimRow(const SimPoint& point, const SimInput& input);
uint64_t FoldSimRow(uint64_t rows, const SimRow& row);
void AdvanceSimRecurrent(SimRecurrent& state, const SimInput& input);

// One token further.
SimRow AdvanceSimPoint(SimPoint& point, const SimInput& input);

// The logits at `point`, one per token of the vocabulary, in [-8, 8).
void SimLogits(const SimPoint& point, uint64_t adapter, absl::Span<float> logits);

// A row as bytes, little-endian: token u32, check u32 (bit 0: the token was drawn; the others are a
// checksum over token, media, that bit and the position), media u64, key u64, value u64.
void EncodeSimRow(const SimRow& row, bool drawn, uint64_t position,
                  std::span<std::byte, kSimRowBytes> out);
struct SimDecodedRow {
  SimRow row;
  bool drawn = false;
};
// Nothing if these bytes are no row of this position, or its token is not below `vocab`.
std::optional<SimDecodedRow> DecodeSimRow(std::span<const std::byte, kSimRowBytes> bytes,
                                          uint64_t position, uint32_t vocab);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_MODEL_H_
