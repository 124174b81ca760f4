#ifndef SUPERFLUID_ENGINE_LLAMA_GBNF_TEXT_H_
#define SUPERFLUID_ENGINE_LLAMA_GBNF_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace superfluid {

// Pieces of the library's notation of grammars, GBNF. Threads: any.

// Returns a literal of UTF-8 text without NUL.
std::string GbnfLiteral(absl::string_view text);

// An expression of one of several texts, with their common beginnings put together.
struct GbnfChoice {
  std::string text;
  size_t widest = 1;  // the most texts that differ in one character behind the same beginning
};
// REQUIRES: `texts` are UTF-8, sorted, different, and at least one.
GbnfChoice GbnfOneOf(const std::vector<std::string>& texts);

// Returns an expression of the integers from `least` to `most` in decimal, without superfluous
// zeros. REQUIRES: least <= most.
std::string GbnfIntegers(int64_t least, int64_t most);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_GBNF_TEXT_H_
