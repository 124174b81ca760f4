#ifndef SUPERFLUID_TESTS_ENGINE_LLAMA_LIBRARY_ALONE_H_
#define SUPERFLUID_TESTS_ENGINE_LLAMA_LIBRARY_ALONE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/handles.h"

struct llama_context;
struct llama_model;

namespace superfluid::testing {

// llama.cpp used directly, as in its own examples: what the engine's results are compared with. One
// thread, an f32 KV cache, no flash attention.
class LibraryAlone {
 public:
  explicit LibraryAlone(const std::string& model);
  LibraryAlone(const LibraryAlone&) = delete;
  LibraryAlone& operator=(const LibraryAlone&) = delete;
  ~LibraryAlone();

  bool good() const { return context_ != nullptr; }
  llama_model* model() const { return model_; }
  llama_context* context() const { return context_; }
  std::vector<Token> Tokens(const std::string& text) const;
  std::string Text(const std::vector<Token>& tokens) const;
  // The prompt in one batch, then the most likely token, `count` times or until one ends the text.
  std::vector<Token> Greedy(const std::vector<Token>& prompt, size_t count);
  // The most likely token after these, which follow what there is; or, of no tokens, after that.
  Token Next(std::vector<Token> tokens);

 private:
  llama_model* model_ = nullptr;
  llama_context* context_ = nullptr;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_LLAMA_LIBRARY_ALONE_H_
