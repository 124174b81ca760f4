#ifndef SUPERFLUID_ENGINE_GENERATION_MEDIA_ITEM_H_
#define SUPERFLUID_ENGINE_GENERATION_MEDIA_ITEM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/handles.h"

namespace superfluid {

// Some of the tokens that stand for media: either text (what the model is used to see between the
// parts of an image) or one row of numbers a token, which the model takes in place of a token's
// embedding.
struct MediaPart {
  uint64_t start = 0;  // of the item's tokens
  uint64_t count = 0;
  std::vector<Token> text;  // empty: rows
  std::vector<float> rows;  // all of the same width
  bool non_causal = false;  // its tokens see those behind them, too: all are computed at once

  // The row of the part's token `index`. Null for text.
  const float* Row(uint64_t index) const {
    return rows.empty() ? nullptr : rows.data() + index * (rows.size() / count);
  }
};

// Encoded media: all that stands for it in a sequence. Never changes, and is shared by its handle
// and the sequences that it is in.
struct MediaItem {
  // In order, without gaps; none if the model takes the fingerprint alone.
  std::vector<MediaPart> parts;
  uint64_t tokens = 0;
  uint64_t fingerprint = 0;  // of the file and how it was encoded; not 0
  // Whether any tokens may be where it is bound; otherwise they must be its image tokens.
  bool any_tokens = false;

  uint64_t bytes() const {
    uint64_t total = 0;
    for (const MediaPart& part : parts) total += part.rows.size() * sizeof(float);
    return total;
  }
};
using MediaItemRef = std::shared_ptr<const MediaItem>;

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_GENERATION_MEDIA_ITEM_H_
