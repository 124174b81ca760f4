#include "tests/engine/llama/library_media.h"

#include <llama.h>
#include <mtmd.h>

#include <algorithm>
#include <cstring>

#include "engine/llama/image_file.h"

namespace superfluid::testing {

LibraryMedia::LibraryMedia(const std::string& model, const std::string& projector)
    : library_(model) {
  if (!library_.good()) return;
  mtmd_context_params params = mtmd_context_params_default();
  params.use_gpu = false;
  params.n_threads = 1;
  projector_ = mtmd_init_from_file(projector.c_str(), library_.model(), params);
}

LibraryMedia::~LibraryMedia() {
  if (projector_ != nullptr) mtmd_free(projector_);
}

void LibraryMedia::Decode(const std::vector<Token>& tokens) {
  if (tokens.empty()) return;
  (void)library_.Next(tokens);
  position_ += static_cast<int32_t>(tokens.size());
}

void LibraryMedia::DecodeRows(const mtmd_input_chunk* chunk, size_t rows) {
  const auto all = static_cast<int32_t>(mtmd_input_chunk_get_n_tokens(chunk));
  const auto count = static_cast<int32_t>(std::min<size_t>(rows, static_cast<size_t>(all)));
  const int32_t width = llama_model_n_embd_inp(library_.model());
  if (mtmd_encode_chunk(projector_, chunk) != 0) return;
  llama_batch batch = llama_batch_init(count, width, 1);
  std::memcpy(batch.embd, mtmd_get_output_embd(projector_),
              static_cast<size_t>(count) * static_cast<size_t>(width) * sizeof(float));
  batch.n_tokens = count;
  for (int32_t i = 0; i < count; ++i) {
    batch.pos[i] = position_ + i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = i + 1 == count ? 1 : 0;
  }
  const bool non_causal = mtmd_decode_use_non_causal(projector_, chunk);
  if (non_causal) llama_set_causal_attn(library_.context(), false);
  llama_decode(library_.context(), batch);
  if (non_causal) llama_set_causal_attn(library_.context(), true);
  llama_batch_free(batch);
  position_ += count;
}

void LibraryMedia::DecodeImage(const std::string& file, size_t rows) {
  const auto bytes = ReadImageFile(file);
  if (!bytes.ok()) return;
  const auto image = superfluid::DecodeImage(*bytes);
  if (!image.ok()) return;
  mtmd_bitmap* bitmap = mtmd_bitmap_init(image->size.width, image->size.height, image->rgb.data());
  mtmd_input_chunks* chunks = mtmd_input_chunks_init();
  const char* marker = mtmd_default_marker();
  const mtmd_input_text text{marker, std::strlen(marker), false, true};
  const mtmd_bitmap* bitmaps = bitmap;
  mtmd_tokenize(projector_, chunks, &text, &bitmaps, 1);
  for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
    const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks, i);
    size_t count = 0;
    const llama_token* tokens = mtmd_input_chunk_get_tokens_text(chunk, &count);
    if (tokens != nullptr) {
      Decode({tokens, tokens + count});
    } else {
      DecodeRows(chunk, rows);
    }
  }
  mtmd_input_chunks_free(chunks);
  mtmd_bitmap_free(bitmap);
}

std::vector<Token> LibraryMedia::Greedy(const ImagePrompt& prompt, size_t count, size_t rows) {
  llama_memory_clear(llama_get_memory(library_.context()), /*data=*/true);
  position_ = 0;
  Decode(prompt.before);
  DecodeImage(prompt.image, rows);
  std::vector<Token> drawn = {library_.Next(prompt.after)};
  while (drawn.size() < count) drawn.push_back(library_.Next({drawn.back()}));
  return drawn;
}

}  // namespace superfluid::testing
