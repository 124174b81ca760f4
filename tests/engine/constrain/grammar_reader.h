#ifndef SUPERFLUID_TESTS_ENGINE_CONSTRAIN_GRAMMAR_READER_H_
#define SUPERFLUID_TESTS_ENGINE_CONSTRAIN_GRAMMAR_READER_H_

#include <memory>
#include <string>

#include "engine/constrain/grammar.h"
#include "engine/constrain/json_grammar.h"
#include "engine/constrain/stacks.h"

namespace superfluid::testing {

// Returns how a grammar reads a text: "." if it takes it, "..." if it could go on, "|" and the
// first byte that it does not take behind what it takes. A text is read byte by byte and as one
// token: a difference is reported as "?".
inline std::string Read(const std::shared_ptr<const Grammar>& grammar, const std::string& text) {
  Stacks stacks(grammar);
  Stacks at_once = stacks;
  for (size_t i = 0; i < text.size(); ++i) {
    if (stacks.Read(text.substr(i, 1))) continue;
    return at_once.Read(text) ? "?" : "|" + text.substr(i, 1);
  }
  if (!at_once.Read(text) || at_once.CanEnd() != stacks.CanEnd()) return "?";
  return stacks.CanEnd() ? "." : "...";
}

inline bool Takes(const std::shared_ptr<const Grammar>& grammar, const std::string& text) {
  return Read(grammar, text) == ".";
}

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_CONSTRAIN_GRAMMAR_READER_H_
