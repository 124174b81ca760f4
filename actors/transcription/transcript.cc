#include "actors/transcription/transcript.h"

#include <algorithm>
#include <utility>

#include "protocol/messages/message_type.h"
#include "protocol/messages/text.h"
#include "protocol/messages/text_join.h"

namespace superfluid {
namespace {

// Most that times, numbers and framing take on the wire.
constexpr size_t kAnswerOverheadBytes = 512;
constexpr size_t kSegmentOverheadBytes = 128;
constexpr size_t kWordOverheadBytes = 48;

// What linkw.proto allows in one answer; a reader refuses more.
constexpr size_t kMostAnswerBytes = size_t{32} << 20;
constexpr size_t kMostSegments = 200'000;
constexpr size_t kMostWords = 4096;
constexpr size_t kMostSegmentText = size_t{64} << 10;
constexpr size_t kMostWordText = 4096;

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

// On the wire, where U+FFFD stands for each byte that is not UTF-8.
size_t TextBytes(std::string_view text) {
  static constexpr size_t kReplacementBytes = 3;
  return linkw::IsUtf8(text) ? text.size() : text.size() * kReplacementBytes;
}

size_t FrameBytes(const TranscribedSegment& segment) {
  size_t bytes = kSegmentOverheadBytes + TextBytes(segment.text);
  for (const TranscribedWord& word : segment.words) {
    bytes += kWordOverheadBytes + TextBytes(word.text);
  }
  return bytes;
}

// The segment and its part of the whole text, with a space.
size_t AnswerBytes(const TranscribedSegment& segment) {
  return FrameBytes(segment) + TextBytes(segment.text) + 1;
}

bool ObeysSchema(const TranscribedSegment& segment) {
  return TextBytes(segment.text) <= kMostSegmentText && segment.words.size() <= kMostWords &&
         std::all_of(segment.words.begin(), segment.words.end(), [](const TranscribedWord& word) {
           return TextBytes(word.text) <= kMostWordText;
         });
}

}  // namespace

Transcript::Transcript(uint32_t max_frame)
    : max_answer_bytes_(std::min<size_t>(
          linkw::PayloadLimit(linkw::MessageType::kStateSyncResult, max_frame), kMostAnswerBytes)),
      max_segment_bytes_(linkw::PayloadLimit(linkw::MessageType::kTranscribeSegment, max_frame)) {}

bool Transcript::HasRoomFor(const TranscribedSegment& segment) const {
  if (!ObeysSchema(segment) || FrameBytes(segment) > max_segment_bytes_) return false;
  return segment.is_partial ||
         (segments_.size() < kMostSegments &&
          kAnswerOverheadBytes + bytes_ + AnswerBytes(segment) <= max_answer_bytes_);
}

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
    bytes_ += AnswerBytes(segment);
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
