#include "tests/stress/speech_load.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/conformance/show.h"
#include "tests/stress/fates.h"

namespace superfluid::stress {
namespace {

using linkw::Status;

enum class Fate { kFinish, kCancel, kDeadline };

// One transcription: what was heard of it, and its answer.
class Hearing {
 public:
  Hearing(SoakLink& link, const linkw::Transcribe& request)
      : link_(link), streamed_(request.stream), stream_(link.Start(MakeRequest(request))) {}
  ~Hearing() {
    if (stream_ != nullptr) link_.Leave(std::move(stream_));
  }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

  bool started() const { return stream_ != nullptr; }
  uint64_t seq() const { return stream_->request_seq(); }

  // Takes what comes; true once the answer is here. False at `until`, or if the link was killed.
  bool Listen(absl::Time until) {
    while (stream_ != nullptr) {
      auto message = link_.Await(*stream_, until);
      if (!message) return false;
      if (const auto* segment = std::get_if<linkw::TranscribeSegment>(&*message)) {
        OnSegment(*segment);
      } else if (!std::holds_alternative<linkw::TranscribeProgress>(*message)) {
        OnAnswer(*std::move(message));
      }
    }
    return answered_;
  }

  void Cancel() {
    cancelled_at_ = absl::Now();
    (void)link_.Send(linkw::TranscribeCancel{seq()});
  }
  // From the cancel to the answer.
  absl::Duration CancelLatency() const { return answered_at_ - cancelled_at_; }

  Status status() const { return answer_.status; }
  const std::string& message() const { return answer_.message; }
  // Null if the answer has none.
  const linkw::TranscribeResult* result() const {
    return std::get_if<linkw::TranscribeResult>(&answer_.reply);
  }

 private:
  static linkw::StateSyncRequest MakeRequest(linkw::Transcribe request) {
    return {linkw::StateSyncCall(std::move(request))};
  }

  void OnSegment(const linkw::TranscribeSegment& segment) {
    if (!streamed_) link_.tally().Fail("a segment that nobody asked for");
    if (segment.index != finals_.size()) link_.tally().Fail("a segment with a wrong index");
    if (!segment.is_partial)
      finals_.push_back(static_cast<const linkw::TranscriptSegment&>(segment));
  }

  void OnAnswer(linkw::WorkerMessage message) {
    answered_at_ = absl::Now();
    link_.Bury(std::move(stream_));
    if (const auto* error = std::get_if<linkw::Error>(&message)) {
      answer_ = {.status = error->status, .message = error->message};
    } else if (auto* answer = std::get_if<linkw::StateSyncResult>(&message)) {
      answer_ = std::move(*answer);
    } else {
      return link_.tally().Fail("a transcription was answered with something else");
    }
    answered_ = true;
    if (result() != nullptr) CheckResult(*result());
  }

  void CheckResult(const linkw::TranscribeResult& result) {
    if (streamed_ && finals_ != result.segments) {
      link_.tally().Fail("the segments of an answer are not those that were streamed");
    }
    int64_t last = 0;
    for (const linkw::TranscriptSegment& segment : result.segments) {
      if (segment.start_ms < last || segment.end_ms < segment.start_ms) {
        link_.tally().Fail(absl::StrCat("times run backwards: ", segment.start_ms, " to ",
                                        segment.end_ms, " ms after ", last));
      }
      last = segment.end_ms;
    }
    if (result.stats.steps_after_cancel != 0) {
      link_.tally().Fail(absl::StrCat(result.stats.steps_after_cancel, " steps after a cancel"));
    }
  }

  SoakLink& link_;
  const bool streamed_;
  std::unique_ptr<linkw::ReplyStream> stream_;  // null once it was answered
  std::vector<linkw::TranscriptSegment> finals_;
  bool answered_ = false;
  linkw::StateSyncResult answer_;
  absl::Time cancelled_at_;
  absl::Time answered_at_;
};

void CheckAgainst(const SpeechReference& reference, const Hearing& hearing, Tally& tally) {
  const linkw::TranscribeResult* const result = hearing.result();
  if (result == nullptr) return tally.Fail("an answer without a transcript");
  if (hearing.status() != Status::kOk) {
    if (!IsPrefix(result->segments, reference.result.segments)) {
      tally.Fail(absl::StrCat("what was heard of ", reference.path,
                              " until it was stopped is not the beginning of what there is"));
    }
    return;
  }
  if (result->segments != reference.result.segments || result->text != reference.result.text ||
      result->duration_ms != reference.result.duration_ms) {
    tally.Fail(absl::StrCat("another transcript of ", reference.path, ": '", result->text,
                            "' instead of '", reference.result.text, "'"));
  }
}

void CountEnd(Fate fate, const Hearing& hearing, Tally& tally) {
  const bool done = hearing.status() == Status::kOk;
  if (fate == Fate::kCancel && (done || hearing.status() == Status::kCancelled)) {
    tally.Count(done ? "speech.cancelled_late" : "speech.cancelled");
    if (done) return;
    tally.Time("speech.cancel", hearing.CancelLatency());
    tally.Time("speech.cancel_in_worker",
               absl::Microseconds(hearing.result()->stats.cancel_to_stop_us));
  } else if (fate == Fate::kDeadline && (done || hearing.status() == Status::kDeadlineExceeded)) {
    tally.Count(done ? "speech.deadline_late" : "speech.deadline");
  } else if (done) {
    tally.Count("speech.done");
  } else {
    tally.Fail(absl::StrCat("a transcription: ", conformance::Show(hearing.status()), " ",
                            hearing.message()));
  }
}

void RunOne(SoakLink& link, const SpeechReference& reference, Fate fate, std::mt19937_64& random) {
  linkw::Transcribe request{.audio = linkw::AudioPath{reference.path}};
  request.stream = random() % 2 == 0;
  // Up to twice as long as it takes with nothing else to do: so at every moment, also late.
  const absl::Duration moment =
      reference.took * (static_cast<double>(random() % 1000) * 2 / 1000.0);
  if (fate == Fate::kDeadline) {
    request.deadline_ms = static_cast<uint32_t>(1 + absl::ToInt64Milliseconds(moment));
  }
  const absl::Time begin = absl::Now();
  Hearing hearing(link, request);
  if (!hearing.started()) return;
  bool answered = false;
  if (fate == Fate::kCancel) {
    answered = hearing.Listen(begin + moment);
    if (!answered && !link.killed()) hearing.Cancel();
  }
  if (!answered && !hearing.Listen(absl::InfiniteFuture())) return;
  CheckAgainst(reference, hearing, link.tally());
  if (answered) fate = Fate::kFinish;  // before there was anything to cancel
  CountEnd(fate, hearing, link.tally());
  if (fate == Fate::kFinish) link.tally().Time("speech.took", absl::Now() - begin);
}

// Sends so much live audio; false if the answer came, or the link is stopping.
bool PushAudio(SoakLink& link, Hearing& hearing, const std::string& pcm) {
  constexpr size_t chunk = size_t{3200} * 2;  // 200 ms
  for (size_t at = 0; at < pcm.size(); at += chunk) {
    if (!link.Send(
            linkw::TranscribeAudio{.request_seq = hearing.seq(), .data = pcm.substr(at, chunk)})) {
      return false;
    }
    if (hearing.Listen(absl::Now() + absl::Milliseconds(5)) || link.killed()) return false;
  }
  return true;
}

void RunLive(SoakLink& link, bool hang_up, std::mt19937_64& random) {
  linkw::Transcribe request{.audio = linkw::AudioLive{{.sample_rate_hz = 16000, .channels = 1}}};
  request.stream = true;
  request.partial_results = random() % 2 == 0;
  const int ms = 200 * static_cast<int>(1 + random() % 20);
  const std::string pcm = conformance::Pcm(ms, 3000 + static_cast<int>(random() % 5000));
  Hearing hearing(link, request);
  if (!hearing.started() || !PushAudio(link, hearing, pcm)) return;
  if (hang_up) {
    if (hearing.Listen(absl::Now() + absl::Milliseconds(random() % 200))) return;
    if (!hearing.started() || link.killed()) return;
    hearing.Cancel();
  } else if (!link.Send(linkw::TranscribeAudio{
                 .request_seq = hearing.seq(), .data = std::string(), .end_of_stream = true})) {
    return;
  }
  if (!hearing.Listen(absl::InfiniteFuture())) return;
  const Status expected = hang_up ? Status::kCancelled : Status::kOk;
  if (hearing.status() != expected) {
    return link.tally().Fail(
        absl::StrCat("live audio: ", conformance::Show(hearing.status()), " ", hearing.message()));
  }
  if (hang_up) {
    link.tally().Count("live.hung_up");
    return link.tally().Time("live.hang_up", hearing.CancelLatency());
  }
  if (hearing.result() == nullptr || hearing.result()->duration_ms != ms) {
    return link.tally().Fail("live audio of which not all was counted");
  }
  link.tally().Count("live.done");
}

}  // namespace

void RunSpeechLoad(SoakLink& link, const References& references, uint64_t seed) {
  std::mt19937_64 random(seed);
  Fates<Fate> fates({Fate::kFinish, Fate::kFinish, Fate::kFinish, Fate::kCancel, Fate::kCancel,
                     Fate::kCancel, Fate::kDeadline},
                    random);
  while (!link.stopping()) {
    const size_t which = random() % references.speech.size();
    RunOne(link, references.speech[which], fates.Next(), random);
    if (random() % 4 == 0) (void)link.Pause(absl::Milliseconds(random() % 100));
  }
}

void RunLiveLoad(SoakLink& link, uint64_t seed) {
  std::mt19937_64 random(seed);
  Fates<bool> hang_ups({true, false}, random);
  while (!link.stopping()) {
    RunLive(link, hang_ups.Next(), random);
    (void)link.Pause(absl::Milliseconds(random() % 50));
  }
}

}  // namespace superfluid::stress
