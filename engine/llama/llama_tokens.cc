#include "engine/llama/llama_tokens.h"

#include <llama.h>

#include <string>

namespace superfluid {
namespace {

constexpr int kNoText =
    LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN | LLAMA_TOKEN_ATTR_UNUSED;

std::string TextOf(const llama_vocab* vocab, llama_token token) {
  constexpr size_t kUsual = 64;
  std::string text(kUsual, '\0');
  const auto write = [&] {
    return llama_token_to_piece(vocab, token, text.data(), static_cast<int32_t>(text.size()),
                                /*lstrip=*/0, /*special=*/false);
  };
  int32_t length = write();
  if (length < 0) {
    text.resize(static_cast<size_t>(-length));
    length = write();
  }
  text.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return text;
}

}  // namespace

TokenTexts ReadTokenTexts(const llama_vocab* vocab) {
  TokenTexts tokens;
  const int32_t count = llama_vocab_n_tokens(vocab);
  tokens.texts.reserve(static_cast<size_t>(count));
  for (llama_token token = 0; token < count; ++token) {
    std::string& text = tokens.texts.emplace_back();
    if (llama_vocab_is_eog(vocab, token)) {
      tokens.ends.push_back(static_cast<Token>(token));
    } else if ((llama_vocab_get_attr(vocab, token) & kNoText) != 0) {
      const char* name = llama_vocab_get_text(vocab, token);
      if (name != nullptr) tokens.named.emplace_back(static_cast<Token>(token), name);
    } else {
      text = TextOf(vocab, token);
    }
  }
  return tokens;
}

}  // namespace superfluid
