#ifndef SUPERFLUID_ENGINE_LLAMA_FREE_TEXT_H_
#define SUPERFLUID_ENGINE_LLAMA_FREE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace superfluid {

// The characters of UTF-8 text as code points; what is not UTF-8 byte by byte.
std::u32string CodePoints(absl::string_view text);

// Free text that is read until it ends with one of some texts: for each state, which characters
// lead where. State 0 is the start. Any other character leads to state 0.
//
// (Aho and Corasick's automaton, whose states are the prefixes of the triggers.)
struct FreeText {
  struct Edge {
    char32_t character = 0;
    size_t state = 0;                       // to which it leads
    const std::u32string* found = nullptr;  // or the trigger that it ends; the longest of several
  };
  std::vector<std::vector<Edge>> states;
};
// Lifetime: the triggers must outlive it.
FreeText MakeFreeText(const std::vector<std::u32string>& triggers);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_FREE_TEXT_H_
