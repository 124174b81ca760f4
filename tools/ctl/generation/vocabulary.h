#ifndef SUPERFLUID_TOOLS_CTL_GENERATION_VOCABULARY_H_
#define SUPERFLUID_TOOLS_CTL_GENERATION_VOCABULARY_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "protocol/messages/messages.h"
#include "tools/ctl/base/failure.h"

namespace superfluid::ctl {

// What an engine's tokens are, as far as its capabilities say.
struct Vocabulary {
  uint64_t size = 0;            // 0: it does not say
  uint64_t context_tokens = 0;  // the longest sequence; 0: it does not say

  std::optional<bool> byte_tokens;  // whether tokens below 256 stand for bytes, if it says

  // What it says; else by its size: a vocabulary of 256 to 1023 tokens has hardly room for anything
  // but bytes and some special tokens.
  bool HasByteTokens() const { return byte_tokens.value_or(size >= 256 && size < 1024); }
};

Vocabulary VocabularyOf(const linkw::HelloAck& hello);

// Why a prompt cannot go to this worker, before it is sent: no ticks, tokens outside the
// vocabulary, text for an engine whose tokens are not bytes, or longer than its context.
std::optional<Failure> CheckPromptFor(const linkw::HelloAck& hello,
                                      absl::Span<const linkw::Token> tokens, bool is_text);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_GENERATION_VOCABULARY_H_
