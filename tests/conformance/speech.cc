#include "tests/conformance/speech.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace superfluid::conformance {
namespace {

void CheckTimes(int64_t start_ms, int64_t end_ms, int64_t& last_ms) {
  Expect(start_ms >= 0 && start_ms <= end_ms,
         absl::StrCat("[STT-3] a segment from ", start_ms, " to ", end_ms, " ms"));
  Expect(start_ms >= last_ms,
         absl::StrCat("[STT-3] a segment from ", start_ms, " ms after one that ends at ", last_ms));
  last_ms = end_ms;
}

// The final segments as they were streamed are those of the answer, in order.
void CheckStreamed(const Heard& heard) {
  size_t finals = 0;
  for (const linkw::TranscribeSegment& segment : heard.segments) {
    ExpectEq(segment.index, finals, "[STT-2] index of a segment");
    if (segment.is_partial) continue;
    Expect(finals < heard.result.segments.size(), "[STT-2] the answer lacks a streamed segment");
    const linkw::TranscriptSegment& answer = heard.result.segments[finals++];
    ExpectEq(segment.text, answer.text, "[STT-2] text of a streamed segment");
    ExpectEq(segment.start_ms, answer.start_ms, "[STT-2] start of a streamed segment");
    ExpectEq(segment.end_ms, answer.end_ms, "[STT-2] end of a streamed segment");
  }
}

}  // namespace

linkw::Transcribe LiveTranscription() {
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioLive{{.sample_rate_hz = 16000, .channels = 1}};
  transcribe.stream = true;
  return transcribe;
}

linkw::Transcribe PathTranscription(const std::string& path) {
  linkw::Transcribe transcribe;
  transcribe.audio = linkw::AudioPath{path};
  transcribe.stream = true;
  return transcribe;
}

linkw::Transcribe PcmTranscription(linkw::BufId id, uint64_t length) {
  linkw::Transcribe transcribe;
  transcribe.audio =
      linkw::AudioBuffer{.buf_id = id,
                         .length = length,
                         .format = linkw::PcmFormat{.sample_rate_hz = 16000, .channels = 1}};
  transcribe.stream = true;
  return transcribe;
}

Heard Hear(Link& link, uint64_t seq, Statuses statuses) {
  auto answer = link.peer().Await<linkw::StateSyncResult>(seq);
  Heard heard{.status = answer.status, .message = answer.message};
  if (std::find(statuses.begin(), statuses.end(), answer.status) == statuses.end()) {
    Fail(absl::StrCat("a transcription: saw ", Show(answer.status), " ", Show(answer.message),
                      ", expected ", Names(statuses)));
  }
  Expect(std::holds_alternative<linkw::TranscribeResult>(answer.reply),
         "[STT-1] an answer without a TranscribeResult");
  heard.result = std::get<linkw::TranscribeResult>(std::move(answer.reply));
  std::deque<Received>& inbox = link.peer().inbox();
  for (const Received& received : inbox) {
    const auto* segment = std::get_if<linkw::TranscribeSegment>(&received.message);
    if (segment != nullptr && received.correlation == seq) heard.segments.push_back(*segment);
  }
  std::erase_if(inbox, [seq](const Received& received) {
    return received.correlation == seq &&
           std::holds_alternative<linkw::TranscribeSegment>(received.message);
  });
  int64_t last_ms = 0;
  for (const linkw::TranscriptSegment& segment : heard.result.segments) {
    CheckTimes(segment.start_ms, segment.end_ms, last_ms);
  }
  if (heard.status == Status::kOk) {
    // An engine may round up to whole frames of its own.
    Expect(
        last_ms <= heard.result.duration_ms + 100,
        absl::StrCat("[STT-3] a segment ends at ", last_ms, " ms of ", heard.result.duration_ms));
  }
  CheckStreamed(heard);
  return heard;
}

uint64_t StartEndless(Link& link) {
  const uint64_t seq = link.SendCall(LiveTranscription());
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = Pcm(300, 6000)});
  return seq;
}

}  // namespace superfluid::conformance
