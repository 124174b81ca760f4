#ifndef SUPERFLUID_ENGINE_SAMPLING_PROMPT_LOOKUP_H_
#define SUPERFLUID_ENGINE_SAMPLING_PROMPT_LOOKUP_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/handles.h"

namespace superfluid {

// Drafts without a model: what followed the last `n` tokens of `history` when they last occurred in
// it before, at most `drafts` tokens. Empty if they did not, among the last `look_back` places.
// n >= 1. Threads: any.
std::vector<Token> PromptLookupDrafts(absl::Span<const Token> history, size_t n, size_t drafts,
                                      size_t look_back);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SAMPLING_PROMPT_LOOKUP_H_
