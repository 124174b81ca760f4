#ifndef SUPERFLUID_ENGINE_CONSTRAIN_REGULAR_EXPRESSION_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_REGULAR_EXPRESSION_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "engine/constrain/byte_automaton.h"
#include "engine/constrain/character_set.h"

namespace superfluid {

// Regular expressions as ECMA-262 has them with its flag u, without what no regular language has:
//
//   characters   . [a-z] [^a] \d \w \s \D \W \S \n \t \r \f \v \0 \xHH \uHHHH, escaped punctuation
//   structure    sequences, | ( ) (?: ) (?<name> ), * + ? {n} {n,} {n,m}, lazy ones too
//   anchors      ^ and $ at the beginning and the end of an alternative
//
// Refused, as Unimplemented under the name "pattern": look-around, back references, \b \B \p \P
// \c \k, possessive quantifiers, anchors elsewhere. InvalidArgument: what is no expression.

// Makes the automaton of the JSON strings, with their quotes, in which the expression is found
// (anywhere, if it has no anchors), as the keyword "pattern" means it.
std::optional<ByteDfa> PatternDfa(absl::string_view expression, CompileBudget& budget);

// Makes the automaton of the texts that are wholly of the expression.
std::optional<ByteDfa> WholeTextDfa(absl::string_view expression, CompileBudget& budget);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_REGULAR_EXPRESSION_H_
