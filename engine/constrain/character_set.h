#ifndef SUPERFLUID_ENGINE_CONSTRAIN_CHARACTER_SET_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_CHARACTER_SET_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/constrain/byte_automaton.h"

namespace superfluid {

// Ranges of code points, both ends included.
using CodeRanges = std::vector<std::pair<char32_t, char32_t>>;

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;

// Returns all code points that are in none of the ranges.
CodeRanges Complement(CodeRanges ranges);

// How a character is written: as UTF-8, or as in a JSON string (the spelling of QuotedJson).
enum class Spelling : uint8_t { kPlain, kJson };

// Adds paths that read one character of the set. Surrogates, which are no characters, are left out.
// The states on the paths lie inside of a character.
void AddCharacters(ByteNfa& nfa, uint32_t from, const CodeRanges& set, uint32_t to,
                   Spelling spelling);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_CHARACTER_SET_H_
