#include "actors/transcript.h"

#include <algorithm>
#include <utility>

#include "protocol/text_join.h"

namespace superfluid {
namespace {

constexpr size_t kSegmentOverheadBytes = 48;  // times, numbers and framing on the wire
constexpr size_t kWordOverheadBytes = 24;

std::vector<linkw::TranscriptWord> Words(const TranscribedSegment& segment, int64_t start_ms,
                                         int64_t end_ms) {
  std::vector<linkw::TranscriptWord> words;
  words.reserve(segment.words.size());
  int64_t earliest = start_ms;
  for (const TranscribedWord& word : segment.words) {
    const int64_t word_start = std::clamp(word.start_ms, earliest, end_ms);
    const int64_t word_end = std::clamp(word.end_ms, word_start, end_ms);
    words.push_back({.start_ms = word_start,
                     .end_ms = word_end,
                     .text = word.text,
                     .probability = word.probability});
    earliest = word_start;
  }
  return words;
}

linkw::TranscriptSegment InOrder(const TranscribedSegment& segment, int64_t earliest_ms) {
  const int64_t start_ms = std::max(segment.start_ms, earliest_ms);
  const int64_t end_ms = std::max(segment.end_ms, start_ms);
  return {.start_ms = start_ms,
          .end_ms = end_ms,
          .text = segment.text,
          .avg_logprob = segment.avg_logprob,
          .no_speech_prob = segment.no_speech_prob,
          .compression_ratio = segment.compression_ratio,
          .temperature = segment.temperature,
          .words = Words(segment, start_ms, end_ms)};
}

size_t WireBytes(const linkw::TranscriptSegment& segment) {
  size_t bytes = kSegmentOverheadBytes + 2 * segment.text.size();  // also in the whole text
  for (const linkw::TranscriptWord& word : segment.words) {
    bytes += kWordOverheadBytes + word.text.size();
  }
  return bytes;
}

}  // namespace

linkw::TranscribeSegment Transcript::Add(const TranscribedSegment& segment,
                                         const TranscriptionProgress& progress) {
  linkw::TranscribeSegment sent;
  static_cast<linkw::TranscriptSegment&>(sent) = InOrder(segment, last_end_ms_);
  sent.index = static_cast<uint32_t>(segments_.size());
  sent.is_partial = segment.is_partial;
  sent.audio_ms = progress.audio_ms;
  sent.audio_total_ms = progress.audio_total_ms;
  if (!segment.is_partial) {
    last_end_ms_ = sent.end_ms;
    bytes_ += WireBytes(sent);
    linkw::AppendPiece(sent.text, text_);
    segments_.push_back(sent);
  }
  return sent;
}

linkw::TranscribeResult Transcript::TakeResult(const TranscriptionProgress& progress) {
  linkw::TranscribeResult result;
  result.text = std::move(text_);
  result.language = progress.language;
  result.duration_ms = progress.audio_ms;
  result.segments = std::move(segments_);
  result.stats.audio_total_ms =
      static_cast<uint64_t>(std::max<int64_t>(progress.audio_total_ms, 0));
  return result;
}

}  // namespace superfluid
