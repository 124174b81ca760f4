#ifndef SUPERFLUID_TESTS_TOOLS_CTL_SCRIPTS_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_SCRIPTS_H_

#include <cstdint>

#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/sample_transcript.h"

// What fake workers do with a transcription.
namespace superfluid::ctl {

inline linkw::StateSyncResult Answer(const TranscriptionOutcome& outcome) {
  return {.status = outcome.status, .message = outcome.message, .reply = outcome.result};
}

// Two segments, then everything.
inline void TranscribeAll(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message) {
  const linkw::Transcribe* request = AsTranscribe(message);
  if (request == nullptr) return;
  if (request->stream) {
    link.Send(MakeSegment(0, 1230, 3450, "one two"), seq);
    link.Send(MakeSegment(1, 4000, 5000, "three"), seq);
  }
  link.Send(Answer(MakeOutcome()), seq);
}

// One segment; the answer only after a cancel.
inline void TranscribeUntilCancelled(FakeLink& link, uint64_t seq,
                                     const linkw::DriverMessage& message) {
  if (AsTranscribe(message) != nullptr) link.Send(MakeSegment(0, 1230, 3450, "one two"), seq);
  const auto* cancel = std::get_if<linkw::TranscribeCancel>(&message);
  if (cancel == nullptr) return;
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = linkw::Status::kCancelled;
  outcome.result.segments.resize(1);
  outcome.result.text = "one two";
  outcome.result.stats.cancel_to_stop_us = 8100;
  link.Send(Answer(outcome), cancel->request_seq);
}

// One segment, and never an answer.
inline void TranscribeForEver(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message) {
  if (AsTranscribe(message) != nullptr) link.Send(MakeSegment(0, 1230, 3450, "one two"), seq);
}

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_SCRIPTS_H_
