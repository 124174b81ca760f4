#ifndef SUPERFLUID_TESTS_ENGINE_CONSTRAIN_SYNTHETIC_TOKENS_H_
#define SUPERFLUID_TESTS_ENGINE_CONSTRAIN_SYNTHETIC_TOKENS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "engine/constrain/vocabulary.h"

namespace superfluid::testing {

// Makes a vocabulary such as models have: all bytes, runs of blanks, numbers, pieces of JSON and of
// source text, characters of several scripts cut anywhere, and words with and without a blank in
// front. The last tokens end a text, or have a name only ("<call>"). The same for the same size.
TokenTexts SyntheticTokens(size_t size);

// Cuts a text into tokens, the longest first. REQUIRES: every byte is a token.
std::vector<Token> CutIntoTokens(const Vocabulary& vocabulary, absl::string_view text);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_CONSTRAIN_SYNTHETIC_TOKENS_H_
