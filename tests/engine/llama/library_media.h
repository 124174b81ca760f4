#ifndef SUPERFLUID_TESTS_ENGINE_LLAMA_LIBRARY_MEDIA_H_
#define SUPERFLUID_TESTS_ENGINE_LLAMA_LIBRARY_MEDIA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/handles.h"
#include "tests/engine/llama/library_alone.h"

struct mtmd_context;
struct mtmd_input_chunk;

namespace superfluid::testing {

// A prompt with an image in it.
struct ImagePrompt {
  std::vector<Token> before;
  std::string image;  // a file
  std::vector<Token> after;
};

// llama.cpp's multimodal part used directly, as its helpers use it.
class LibraryMedia {
 public:
  LibraryMedia(const std::string& model, const std::string& projector);
  LibraryMedia(const LibraryMedia&) = delete;
  LibraryMedia& operator=(const LibraryMedia&) = delete;
  ~LibraryMedia();

  bool good() const { return projector_ != nullptr; }
  // The prompt, then the most likely token, `count` times; of the image at most `rows`.
  std::vector<Token> Greedy(const ImagePrompt& prompt, size_t count, size_t rows = SIZE_MAX);

 private:
  void Decode(const std::vector<Token>& tokens);
  void DecodeImage(const std::string& file, size_t rows);
  void DecodeRows(const mtmd_input_chunk* chunk, size_t rows);

  LibraryAlone library_;
  mtmd_context* projector_ = nullptr;
  int32_t position_ = 0;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_LLAMA_LIBRARY_MEDIA_H_
