// Transcription: cancels, deadlines, bounds.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/speech.h"

namespace superfluid::conformance {
namespace {

constexpr uint64_t kNobody = 987654321;

const std::vector<std::string>& Speech() {
  static const auto* const kCalls = new std::vector<std::string>{"transcribe"};
  return *kCalls;
}

void CancelOfOne(Context& context) {
  Link link(context);
  const uint64_t first = StartEndless(link);
  const uint64_t second = StartEndless(link);
  link.Send(linkw::TranscribeCancel{first});
  Hear(link, first, {Status::kCancelled});
  link.Ping();
  for (const Received& received : link.peer().inbox()) {
    Expect(received.correlation != second ||
               !std::holds_alternative<linkw::StateSyncResult>(received.message),
           "the other one ended, too");
  }
  link.Send(linkw::TranscribeAudio{.request_seq = second, .data = "", .end_of_stream = true});
  Hear(link, second);
}

void CancelOfAll(Context& context) {
  Link link(context);
  std::vector<uint64_t> seqs;
  seqs.reserve(4);
  for (int i = 0; i < 4; ++i) seqs.push_back(StartEndless(link));
  link.Send(linkw::TranscribeCancel{0});
  for (const uint64_t seq : seqs) Hear(link, seq, {Status::kCancelled});
  ExpectEq(link.Ping().open_transcriptions, 0u, "open_transcriptions of PONG");
}

void CancelAgain(Context& context) {
  Link link(context);
  const uint64_t seq = StartEndless(link);
  for (int i = 0; i < 4; ++i) link.Send(linkw::TranscribeCancel{seq});
  Hear(link, seq, {Status::kCancelled});
  link.ExpectSilent(link.Send(linkw::TranscribeCancel{seq}), "TRANSCRIBE_CANCEL after the answer");
  link.ExpectSilent(link.Send(linkw::TranscribeCancel{kNobody}), "TRANSCRIBE_CANCEL of nothing");
  link.ExpectSilent(link.Send(linkw::TranscribeCancel{0}), "TRANSCRIBE_CANCEL of all, of none");
}

// The cancel and the request in one write: it may come before the request was even begun.
void CancelAtOnce(Context& context) {
  Link link(context);
  for (int i = 0; i < 20; ++i) {
    const uint64_t seq = link.peer().next_seq();
    std::string bytes = link.peer().Encode(linkw::StateSyncRequest{LiveTranscription()});
    bytes += link.peer().Encode(linkw::TranscribeCancel{seq});
    link.peer().SendBytes(bytes);
    const auto answer = link.peer().Await<linkw::StateSyncResult>(seq);
    ExpectEq(answer.status, Status::kCancelled, "a request cancelled at once");
  }
}

void CancelOrDone(Context& context) {
  Link link(context);
  const std::string path = context.SpeechFile(500);
  for (int i = 0; i < 15; ++i) {
    const uint64_t seq = link.SendCall(PathTranscription(path));
    link.peer().Listen(absl::Microseconds(static_cast<int64_t>(context.Random(20'000))));
    link.Send(linkw::TranscribeCancel{seq});
    Hear(link, seq, {Status::kCancelled, Status::kOk});
  }
}

void CancelIsQuick(Context& context) {
  Link link(context);
  const std::string path = context.SpeechFile(60'000);
  linkw::Transcribe request = PathTranscription(path);
  request.partial_results = true;
  const uint64_t seq = link.SendCall(request);
  link.peer().Listen(absl::Milliseconds(100));
  link.Send(linkw::TranscribeCancel{seq});
  const Heard heard = Hear(link, seq, {Status::kCancelled, Status::kOk});
  if (heard.status == Status::kOk) return;  // a minute of audio in a tenth of a second
  ExpectEq(heard.result.stats.steps_after_cancel, uint64_t{0}, "steps_after_cancel");
  Expect(heard.result.stats.cancel_to_stop_us < 200'000,
         absl::StrCat("the engine went on for ", heard.result.stats.cancel_to_stop_us, " us"));
}

void DeadlinePasses(Context& context) {
  Link link(context);
  linkw::Transcribe request = LiveTranscription();
  request.deadline_ms = 150;
  const auto start = Clock::now();
  const uint64_t seq = link.SendCall(request);
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = Pcm(300, 6000)});
  Hear(link, seq, {Status::kDeadlineExceeded});
  const std::chrono::duration<double> took = Clock::now() - start;
  Expect(took.count() >= 0.14 && took.count() < 3,
         absl::StrCat("the answer came after ", took.count(), " s, the deadline was 0.15 s"));
}

void DeadlineInTime(Context& context) {
  Link link(context);
  linkw::Transcribe request = PathTranscription(context.SpeechFile(500));
  request.deadline_ms = 50'000;
  Hear(link, link.SendCall(request));
}

void AudioForNobody(Context& context) {
  Link link(context);
  link.ExpectSilent(link.Send(linkw::TranscribeAudio{.request_seq = kNobody, .data = "xx"}),
                    "TRANSCRIBE_AUDIO for nobody");
  link.ExpectSilent(
      link.Send(linkw::TranscribeAudio{
          .request_seq = kNobody, .data = linkw::BufferSpan{.buf_id = linkw::BufId(987654321)}}),
      "TRANSCRIBE_AUDIO from no buffer, for nobody");
  const uint64_t seq = StartEndless(link);
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "", .end_of_stream = true});
  Hear(link, seq);
  link.ExpectSilent(link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "xx"}),
                    "TRANSCRIBE_AUDIO for a request that has ended");
}

void AudioForARequestThatHasIt(Context& context) {
  Link link(context);
  link.OpenFds();
  const std::string pcm = Pcm(500, 6000);
  const Link::Buffer buffer = link.AttachBuffer(pcm.size());
  std::memcpy(buffer.segment.data(), pcm.data(), pcm.size());
  for (const uint64_t other : {uint64_t{987654321}, static_cast<uint64_t>(buffer.id)}) {
    const uint64_t seq = link.SendCall(PcmTranscription(buffer.id, pcm.size()));
    link.Send(linkw::TranscribeAudio{
        .request_seq = seq,
        .data = linkw::BufferSpan{.buf_id = linkw::BufId(other), .length = 10}});
    ExpectEq(Hear(link, seq).result.duration_ms, int64_t{500}, "duration_ms");
  }
}

void AudioFromNoBuffer(Context& context) {
  Link link(context);
  link.OpenFds();
  const Link::Buffer buffer = link.AttachBuffer(100);
  const uint64_t unknown = StartEndless(link);
  link.Send(linkw::TranscribeAudio{
      .request_seq = unknown,
      .data = linkw::BufferSpan{.buf_id = linkw::BufId(987654321), .length = 10}});
  Hear(link, unknown, {Status::kUnknownHandle});
  const uint64_t beyond = StartEndless(link);
  link.Send(linkw::TranscribeAudio{
      .request_seq = beyond,
      .data = linkw::BufferSpan{.buf_id = buffer.id, .offset = ~uint64_t{0}, .length = 10}});
  Hear(link, beyond, {Status::kInvalidArgument});
  link.Ping();
}

void TooMany(Context& context) {
  Link link(context);
  const uint32_t most = link.ack().limits.max_transcriptions;
  if (most > 1000) Skip(absl::StrCat("a link may have ", most, " transcriptions"));
  std::vector<uint64_t> seqs;
  for (uint32_t i = 0; i < most; ++i) seqs.push_back(link.SendCall(LiveTranscription()));
  // A ping overtakes them, so it may take some until all are counted; the check's time bounds that.
  while (link.Ping().open_transcriptions != most) link.peer().Listen(absl::Milliseconds(5));
  link.Refused(LiveTranscription(), {Status::kBusy}, "one transcription more than may be open");
  link.Send(linkw::TranscribeCancel{seqs[0]});
  link.Outcome(seqs[0]);
  const uint64_t another = link.SendCall(LiveTranscription());
  link.Send(linkw::TranscribeCancel{0});
  seqs[0] = another;
  for (const uint64_t seq : seqs) {
    ExpectEq(link.Outcome(seq).first, Status::kCancelled, "a cancelled transcription");
  }
}

void LinkEndsMidway(Context& context) {
  {
    Link link(context);
    for (int i = 0; i < 4; ++i) StartEndless(link);
    link.Ping();
  }
  Link link(context);
  ExpectEq(link.Ping().open_transcriptions, 0u, "open_transcriptions on the next link");
  Hear(link, link.SendCall(PathTranscription(context.SpeechFile(500))));
}

// Speech in, nothing read: the worker neither dies nor keeps others from their answers.
void PeerThatDoesNotRead(Context& context) {
  Link link(context);
  linkw::Transcribe request = LiveTranscription();
  request.partial_results = true;
  const uint64_t seq = link.SendCall(request);
  link.peer().set_deaf(true);
  const std::string pcm = Pcm(1000, 6000);
  for (int i = 0; i < 20; ++i) {
    link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = pcm});
  }
  for (int i = 0; i < 3; ++i) ExpectServing(context);
  link.peer().set_deaf(false);
  link.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "", .end_of_stream = true});
  Hear(link, seq);
}

}  // namespace

void AddTranscriptionEndChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, Speech(), Pace::kAny, 60});
  };
  add("STT-4 STT-5", "a cancel of one of two", CancelOfOne);
  add("STT-4 PING-2", "a cancel of all", CancelOfAll);
  add("STT-5 ALWAYS-1", "a cancel again, too late, of nothing", CancelAgain);
  add("STT-5 ALWAYS-2", "a cancel right behind its request", CancelAtOnce);
  add("STT-4 ALWAYS-1", "cancels that race with the end", CancelOrDone);
  add("ALWAYS-7 STT-4", "a cancel stops the engine", CancelIsQuick);
  checks.push_back(
      {"ALWAYS-7 STT-4", "a cancel stops a slow engine", CancelIsQuick, Speech(), Pace::kSlow, 60});
  add("STT-6", "a deadline that passes", DeadlinePasses);
  add("STT-6", "a deadline that does not", DeadlineInTime);
  add("STT-8", "audio for nobody", AudioForNobody);
  add("STT-8 ALWAYS-1", "audio for a request that has its own", AudioForARequestThatHasIt);
  add("STT-9 BUF-10", "live audio from no buffer, and beyond one", AudioFromNoBuffer);
  add("ALWAYS-4 PING-2 ERR-1", "more transcriptions than there may be", TooMany);
  add("END-1 ROLE-3", "a link that ends with open transcriptions", LinkEndsMidway);
  add("ALWAYS-5", "a peer that does not read its segments", PeerThatDoesNotRead);
}

}  // namespace superfluid::conformance
