#ifndef SUPERFLUID_ACTORS_TRANSCRIPTION_TRANSCRIPT_H_
#define SUPERFLUID_ACTORS_TRANSCRIPTION_TRANSCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/transcription.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// The final segments of one transcription so far, and the answer that is made of them.
//
// Segments are put right where an engine got them wrong: times never run backwards, neither within
// a segment nor from one to the next, and words lie inside their segment. Threads: one.
class Transcript {
 public:
  // `max_frame`: of the link, which bounds the answer and each segment.
  explicit Transcript(uint32_t max_frame = linkw::kDefaultMaxFrame);

  // Whether a frame of its own, and the final answer, can hold `segment` whole. Never too generous.
  bool HasRoomFor(const TranscribedSegment& segment) const;

  // Adds a final segment, or numbers a partial one; returns it in the form in which it is sent.
  linkw::TranscribeSegment Add(const TranscribedSegment& segment,
                               const TranscriptionProgress& progress);

  // Everything said so far as one text: the segments, with a blank between them where neither has
  // one and their writing wants one.
  const std::string& text() const { return text_; }

  // The answer's segments and text are moved out: call it once, last.
  linkw::TranscribeResult TakeResult(const TranscriptionProgress& progress);

 private:
  size_t max_answer_bytes_;
  size_t max_segment_bytes_;
  std::vector<linkw::TranscriptSegment> segments_;
  std::string text_;
  size_t bytes_ = 0;  // that the segments take in the answer, at most
  int64_t last_end_ms_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_TRANSCRIPTION_TRANSCRIPT_H_
