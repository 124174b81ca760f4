#ifndef SUPERFLUID_ENGINE_LLAMA_LLAMA_TOKENS_H_
#define SUPERFLUID_ENGINE_LLAMA_LLAMA_TOKENS_H_

#include "engine/constrain/vocabulary.h"

struct llama_vocab;

namespace superfluid {

// Returns what a model's tokens are in bytes, as they come behind other text: those of a text with
// their leading blank, those that end a text, and control tokens with their names.
TokenTexts ReadTokenTexts(const llama_vocab* vocab);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LLAMA_LLAMA_TOKENS_H_
