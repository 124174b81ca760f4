#ifndef SUPERFLUID_TESTS_TOOLS_CTL_SAMPLE_TRANSCRIPT_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_SAMPLE_TRANSCRIPT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "protocol/messages/messages.h"
#include "tools/ctl/formats/transcript_format.h"

namespace superfluid::ctl {

inline linkw::TranscribeSegment MakeSegment(uint32_t index, int64_t start_ms, int64_t end_ms,
                                            std::string text) {
  linkw::TranscribeSegment segment;
  segment.index = index;
  segment.start_ms = start_ms;
  segment.end_ms = end_ms;
  segment.text = std::move(text);
  segment.audio_ms = end_ms;
  segment.audio_total_ms = 10000;
  return segment;
}

inline linkw::TranscribeSegment MakePartial(uint32_t index, int64_t start_ms, int64_t end_ms,
                                            std::string text) {
  linkw::TranscribeSegment segment = MakeSegment(index, start_ms, end_ms, std::move(text));
  segment.is_partial = true;
  return segment;
}

// "one two" and "three", 10 s of audio in 2 s.
inline TranscriptionOutcome MakeOutcome() {
  linkw::TranscribeSegment first = MakeSegment(0, 1230, 3450, "one two");
  first.avg_logprob = -0.25F;
  first.no_speech_prob = 0.1F;
  first.words = {{1230, 2000, "one", 0.9F}, {2000, 3450, "two", 0.5F}};
  TranscriptionOutcome outcome;
  outcome.file = "talk.flac";
  outcome.result.text = "one two three";
  outcome.result.language = "en";
  outcome.result.duration_ms = 10000;
  const linkw::TranscribeSegment second = MakeSegment(1, 4000, 5000, "three");
  outcome.result.segments = {static_cast<const linkw::TranscriptSegment&>(first),
                             static_cast<const linkw::TranscriptSegment&>(second)};
  outcome.result.stats = {.engine_steps = 1001,
                          .engine_us = 1900000,
                          .queue_us = 250,
                          .cancel_to_stop_us = 0,
                          .steps_after_cancel = 0,
                          .audio_total_ms = 10000};
  outcome.figures = {.elapsed = absl::Seconds(2),
                     .first_segment = absl::Milliseconds(300),
                     .cancel = std::nullopt};
  return outcome;
}

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_SAMPLE_TRANSCRIPT_H_
