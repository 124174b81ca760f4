#ifndef SUPERFLUID_ENGINE_WHISPER_SEGMENT_BUILDER_H_
#define SUPERFLUID_ENGINE_WHISPER_SEGMENT_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/transcription.h"
#include "engine/whisper/raw_segment.h"
#include "engine/whisper/utf8_carry.h"

namespace superfluid {

// Makes the segments of a transcript of the library's: whole characters (what a segment cuts goes
// to the next), words, times that lie within the audio and do not run backwards, and figures of
// merit.
//
// Copy one to make partial segments, which must not change what comes after.
class SegmentBuilder {
 public:
  // `with_words`: also the words of each segment, with their times.
  explicit SegmentBuilder(bool with_words) : with_words_(with_words) {}

  // The segment of a window that begins at `window_ms`, in audio that ends at `audio_end_ms` (at
  // least where the last segment ended), in a language of the library's. Nullopt if it has no text.
  std::optional<TranscribedSegment> Build(const RawSegment& raw, int64_t window_ms,
                                          int64_t audio_end_ms, std::string_view language);

  // Where the last segment ended.
  int64_t last_end_ms() const { return last_end_ms_; }

 private:
  struct Piece {
    std::string text;
    bool begins_word = false;
    const RawToken* token = nullptr;
  };

  std::vector<Piece> Pieces(const RawSegment& raw, std::string_view language);
  static std::vector<TranscribedWord> Words(const std::vector<Piece>& pieces, int64_t window_ms,
                                            const TranscribedSegment& segment);

  bool with_words_;
  Utf8Carry carry_;
  int64_t last_end_ms_ = 0;
};

// Bytes of the text / bytes of it deflated; high for text that repeats itself. 0 for no text.
float CompressionRatio(std::string_view text);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_SEGMENT_BUILDER_H_
