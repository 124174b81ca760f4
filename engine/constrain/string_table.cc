#include "engine/constrain/string_table.h"

#include "absl/strings/string_view.h"

namespace superfluid {
namespace {

// Behind a backslash; behind \u, by digits read; \uD, where surrogates begin.
constexpr uint8_t kEscape = 2;
constexpr uint8_t kHex = 3;
constexpr uint8_t kLastHex = 6;
constexpr uint8_t kHexD = 14;
// So many bytes of a character are to come; or the next one is restricted.
constexpr uint8_t kOneMore = 7;
constexpr uint8_t kTwoMore = 8;
constexpr uint8_t kThreeMore = 9;
constexpr uint8_t kAfterE0 = 10;
constexpr uint8_t kAfterEd = 11;
constexpr uint8_t kAfterF0 = 12;
constexpr uint8_t kAfterF4 = 13;

}  // namespace

void StringTable::Set(uint8_t from, unsigned low, unsigned high, uint8_t to) {
  for (unsigned byte = low; byte <= high; ++byte) next_.at(from).at(byte) = to;
}

StringTable::StringTable(Escapes escapes) {
  for (auto& row : next_) row.fill(kNone);
  Set(kBeforeQuote, '"', '"', kBetween);
  Set(kBetween, 0x20, 0x7F, kBetween);
  Set(kBetween, '"', '"', kClosed);
  Set(kBetween, '\\', '\\', kEscape);
  Set(kBetween, 0xC2, 0xDF, kOneMore);
  Set(kBetween, 0xE0, 0xE0, kAfterE0);
  Set(kBetween, 0xE1, 0xEF, kTwoMore);
  Set(kBetween, 0xED, 0xED, kAfterEd);
  Set(kBetween, 0xF0, 0xF0, kAfterF0);
  Set(kBetween, 0xF1, 0xF3, kThreeMore);
  Set(kBetween, 0xF4, 0xF4, kAfterF4);
  Set(kOneMore, 0x80, 0xBF, kBetween);
  Set(kTwoMore, 0x80, 0xBF, kOneMore);
  Set(kThreeMore, 0x80, 0xBF, kTwoMore);
  Set(kAfterE0, 0xA0, 0xBF, kOneMore);
  Set(kAfterEd, 0x80, 0x9F, kOneMore);
  Set(kAfterF0, 0x90, 0xBF, kTwoMore);
  Set(kAfterF4, 0x80, 0x8F, kTwoMore);
  for (const char c : absl::string_view("\"\\bfnrt")) {
    Set(kEscape, static_cast<uint8_t>(c), static_cast<uint8_t>(c), kBetween);
  }
  if (escapes == Escapes::kShortOnly) return;
  Set(kEscape, '/', '/', kBetween);
  Set(kEscape, 'u', 'u', kHex);
  for (uint8_t state = kHex; state <= kLastHex; ++state) {
    const auto next = static_cast<uint8_t>(state == kLastHex ? kBetween : state + 1);
    Set(state, '0', '9', next);
    Set(state, 'a', 'f', next);
    Set(state, 'A', 'F', next);
  }
  Set(kHex, 'd', 'd', kHexD);
  Set(kHex, 'D', 'D', kHexD);
  Set(kHexD, '0', '7', kHex + 2);
}

const StringTable& StringTable::OfValues() {
  static const StringTable table(Escapes::kAll);
  return table;
}

const StringTable& StringTable::OfNames() {
  static const StringTable table(Escapes::kShortOnly);
  return table;
}

}  // namespace superfluid
