#include "tests/engine/llama/library_alone.h"

#include <llama.h>

#include <algorithm>
#include <array>

#include "engine/llama/llama_library.h"

namespace superfluid::testing {

LibraryAlone::LibraryAlone(const std::string& model) {
  LlamaLibrary::LoadBackends("");
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  model_ = llama_model_load_from_file(model.c_str(), params);
  if (model_ == nullptr) return;
  llama_context_params context = llama_context_default_params();
  context.n_ctx = 2048;
  context.n_threads = 1;
  context.n_threads_batch = 1;
  context.type_k = GGML_TYPE_F32;
  context.type_v = GGML_TYPE_F32;
  context.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  context_ = llama_init_from_model(model_, context);
}

LibraryAlone::~LibraryAlone() {
  if (context_ != nullptr) llama_free(context_);
  if (model_ != nullptr) llama_model_free(model_);
}

std::vector<Token> LibraryAlone::Tokens(const std::string& text) const {
  std::vector<llama_token> tokens(text.size() + 8);
  const int32_t count =
      llama_tokenize(llama_model_get_vocab(model_), text.data(), static_cast<int32_t>(text.size()),
                     tokens.data(), static_cast<int32_t>(tokens.size()), /*add_special=*/true,
                     /*parse_special=*/false);
  tokens.resize(static_cast<size_t>(std::max(count, 0)));
  return {tokens.begin(), tokens.end()};
}

std::string LibraryAlone::Text(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) {
    std::array<char, 256> piece{};
    const int32_t length =
        llama_token_to_piece(llama_model_get_vocab(model_), static_cast<llama_token>(token),
                             piece.data(), static_cast<int32_t>(piece.size()), 0, false);
    text.append(piece.data(), static_cast<size_t>(std::max(length, 0)));
  }
  return text;
}

Token LibraryAlone::Next(std::vector<Token> tokens) {
  std::vector<llama_token> input(tokens.begin(), tokens.end());
  if (!input.empty()) {
    llama_decode(context_, llama_batch_get_one(input.data(), static_cast<int32_t>(input.size())));
  }
  const float* logits = llama_get_logits_ith(context_, -1);
  const int32_t vocab = llama_vocab_n_tokens(llama_model_get_vocab(model_));
  return static_cast<Token>(std::max_element(logits, logits + vocab) - logits);
}

std::vector<Token> LibraryAlone::Greedy(const std::vector<Token>& prompt, size_t count) {
  llama_memory_clear(llama_get_memory(context_), /*data=*/true);
  std::vector<Token> drawn = {Next(prompt)};
  while (drawn.size() < count && !llama_vocab_is_eog(llama_model_get_vocab(model_),
                                                     static_cast<llama_token>(drawn.back()))) {
    drawn.push_back(Next({drawn.back()}));
  }
  return drawn;
}

}  // namespace superfluid::testing
