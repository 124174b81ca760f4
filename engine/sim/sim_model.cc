#include "engine/sim/sim_model.h"

#include <cstring>

#include "engine/sampling/mix.h"

namespace superfluid {
namespace {

constexpr uint64_t kEmptyRows = 0x73696D2D6B760001U;
constexpr uint64_t kLogitsSalt = 0x6C6F67697473U;

uint32_t RowCheck(const SimRow& row, bool drawn, uint64_t position) {
  const uint64_t mixed = Mix(Mix(Mix(row.token, row.media), position), drawn ? 2 : 1);
  return (static_cast<uint32_t>(mixed) & ~1U) | (drawn ? 1U : 0U);
}

}  // namespace

SimPoint SimStartPoint() {
  SimPoint point;
  point.rows = kEmptyRows;
  for (size_t i = 0; i < point.recurrent.size(); ++i) point.recurrent[i] = Mix(i);
  return point;
}

SimRow MakeSimRow(const SimPoint& point, const SimInput& input) {
  SimRow row;
  row.token = input.token;
  row.media = input.media;
  row.key = Mix(Mix(Mix(point.rows, input.token), input.media), input.adapter);
  row.value = Mix(row.key, point.position);
  return row;
}

uint64_t FoldSimRow(uint64_t rows, const SimRow& row) {
  return Mix(Mix(Mix(Mix(rows, row.token), row.media), row.key), row.value);
}

void AdvanceSimRecurrent(SimRecurrent& state, const SimInput& input) {
  uint64_t carry = Mix(Mix(input.token, input.media), input.adapter);
  for (uint64_t& word : state) {
    word = Mix(word, carry);
    carry = word;
  }
}

SimRow AdvanceSimPoint(SimPoint& point, const SimInput& input) {
  const SimRow row = MakeSimRow(point, input);
  point.rows = FoldSimRow(point.rows, row);
  AdvanceSimRecurrent(point.recurrent, input);
  ++point.position;
  return row;
}

void SimLogits(const SimPoint& point, uint64_t adapter, absl::Span<float> logits) {
  uint64_t mixed = Mix(Mix(kLogitsSalt, point.rows), adapter);
  for (const uint64_t word : point.recurrent) mixed = Mix(mixed, word);
  for (size_t token = 0; token < logits.size(); ++token) {
    // 24 bits are what a float holds exactly, so this is the same on every machine.
    const auto bits = static_cast<float>(Mix(mixed + token) >> 40U);
    logits[token] = bits * (16.0F / 16777216.0F) - 8.0F;
  }
}

void EncodeSimRow(const SimRow& row, bool drawn, uint64_t position,
                  std::span<std::byte, kSimRowBytes> out) {
  const uint32_t check = RowCheck(row, drawn, position);
  std::memcpy(out.data(), &row.token, 4);
  std::memcpy(out.data() + 4, &check, 4);
  std::memcpy(out.data() + 8, &row.media, 8);
  std::memcpy(out.data() + 16, &row.key, 8);
  std::memcpy(out.data() + 24, &row.value, 8);
}

std::optional<SimDecodedRow> DecodeSimRow(std::span<const std::byte, kSimRowBytes> bytes,
                                          uint64_t position, uint32_t vocab) {
  SimDecodedRow decoded;
  uint32_t check = 0;
  std::memcpy(&decoded.row.token, bytes.data(), 4);
  std::memcpy(&check, bytes.data() + 4, 4);
  std::memcpy(&decoded.row.media, bytes.data() + 8, 8);
  std::memcpy(&decoded.row.key, bytes.data() + 16, 8);
  std::memcpy(&decoded.row.value, bytes.data() + 24, 8);
  decoded.drawn = (check & 1U) != 0;
  if (decoded.row.token >= vocab) return std::nullopt;
  if (check != RowCheck(decoded.row, decoded.drawn, position)) return std::nullopt;
  return decoded;
}

}  // namespace superfluid
