#ifndef SUPERFLUID_TESTS_CONFORMANCE_SPEECH_H_
#define SUPERFLUID_TESTS_CONFORMANCE_SPEECH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/messages.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {

// A request for live 16-bit mono audio at 16 kHz.
linkw::Transcribe LiveTranscription();
linkw::Transcribe PathTranscription(const std::string& path);
linkw::Transcribe PcmTranscription(linkw::BufId id, uint64_t length);

// A transcription's segments and its answer, which must be whole by STT-2 and STT-3 and, if given,
// have one of these statuses.
struct Heard {
  std::vector<linkw::TranscribeSegment> segments;  // as streamed, partial ones included
  Status status = Status::kOk;
  std::string message;
  linkw::TranscribeResult result;
};
Heard Hear(Link& link, uint64_t seq, Statuses statuses = {Status::kOk});

// What becomes of a request for live audio that never ends by itself.
uint64_t StartEndless(Link& link);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_SPEECH_H_
