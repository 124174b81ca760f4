// What a LinkOracle makes of the worker's frames.

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/message_names.h"
#include "tests/simulation/oracle.h"

namespace superfluid::simulation {
namespace {

using linkw::MessageType;
using linkw::Status;

// How often the share that a job is owed by plain arithmetic it may wait: the policy's own quanta.
constexpr int64_t kShareSlack = 3;
constexpr int64_t kShareSlackNs = 100 * kMs;

// Returns the status that an answer carries; OK for one without.
template <class Message>
Status StatusOf(const Message& message) {
  if constexpr (requires { message.status; }) {
    return message.status;
  } else {
    return Status::kOk;
  }
}

}  // namespace

void LinkOracle::OnReceived(const linkw::FrameHeader& header, const linkw::WorkerMessage& message,
                            int64_t now_ns) {
  const MessageType type = std::visit(TypeOf(), message);
  received_ns_ = now_ns;
  if (header.seq != ++last_seq_) {
    Fail(absl::StrCat("FRAME-5: seq ", header.seq, " after ", last_seq_ - 1));
  }
  if (fatal_) Fail("FRAME-16: a frame after the fatal ERROR");
  if (const auto* error = std::get_if<linkw::Error>(&message); error != nullptr && error->fatal) {
    return OnFatal(*error);
  }
  if (type == MessageType::kTelemetry) return;
  const auto it = requests_.find(header.correlation);
  if (it == requests_.end()) {
    return Fail(absl::StrCat("FRAME-6: ", NameOfType(type),
                             " answers a frame that was not sent: ", header.correlation));
  }
  std::visit([&](const auto& content) { Got(it->first, it->second, content); }, message);
}

void LinkOracle::OnFatal(const linkw::Error& error) {
  fatal_ = true;
  oracle_.Count(absl::StrCat("fatal ", NameOfStatus(error.status)));
  oracle_.OnOver(*this);
  const bool refused = !acked_;
  if (!broke_.empty() || oracle_.ends_allowed() || refused) return;
  Fail(absl::StrCat("ERR-1: the link was ended without a cause: ", NameOfStatus(error.status), " ",
                    error.message));
}

void LinkOracle::OnClosed() {
  if (std::exchange(closed_, true)) return;
  oracle_.OnOver(*this);
  if (hung_up_ || fatal_ || oracle_.ends_allowed()) return;
  if (hello_seq_ == 0) return;  // CHAN-5: nothing was said
  if (broke_.empty()) return Fail("ERR-1: the link was closed without a cause");
  if (always_read_) Fail(absl::StrCat("FRAME-16: closed without a word after ", broke_));
}

void LinkOracle::Finish(uint64_t seq, Request& request, MessageType got, Status status) {
  if (++request.finals > 1) {
    Fail(absl::StrCat("ALWAYS-1: request ", seq, " (", NameOfType(request.type),
                      ") was answered twice, now by ", NameOfType(got)));
  }
  request.refused = status != Status::kOk;
  if (request.transcription && request.finals == 1) oracle_.AddOpen(-1);
  oracle_.Count(absl::StrCat(NameOfType(request.type), request.transcription ? " (speech) " : " ",
                             NameOfStatus(status)));
  if (drained_seq_ != 0 && seq > drained_seq_ && status == Status::kOk && IsNewWork(request)) {
    Fail(absl::StrCat("DRAIN-1: request ", seq, " was served after the drain ", drained_seq_));
  }
}

bool LinkOracle::IsNewWork(const Request& request) const {
  return request.type == MessageType::kTickSubmit || request.transcription ||
         request.type == MessageType::kStateOpSubmit || request.type == MessageType::kSeedAcquire;
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::Error& error) {
  if (request.finals > 0 && request.expect == Expect::kNothing) {
    return Fail(absl::StrCat("ERR-2: request ", seq, " was refused twice: ", error.message));
  }
  Finish(seq, request, MessageType::kError, error.status);
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::HelloAck& /*ack*/) {
  Finish(seq, request, MessageType::kHelloAck, Status::kOk);
  acked_ = true;
  if (driver_) oracle_.OnGranted(*this);
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::TickEmit& emit) {
  if (request.finals > 0) Fail(absl::StrCat("tick ", seq, ": TICK_EMIT after its result"));
  if (emit.tick_id != request.tick_id) Fail(absl::StrCat("tick ", seq, ": emit of another tick"));
  uint32_t& emitted = request.emitted[emit.lane_tag];
  if (emit.index < emitted) Fail(absl::StrCat("tick ", seq, ": emits run backwards"));
  emitted = emit.index + static_cast<uint32_t>(emit.tokens.size());
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::TickResult& result) {
  Finish(seq, request, MessageType::kTickResult, result.status);
  const linkw::TickEvents& events = result.events;
  if (result.status == Status::kCancelled && !drain_was_asked_ && !oracle_.ends_allowed()) {
    Fail(absl::StrCat("TICK-23: tick ", seq, " is CANCELLED, which nobody asked for"));
  }
  if (result.status == Status::kOk && events.lanes.size() != request.tags.size()) {
    Fail(absl::StrCat("TICK-2: tick ", seq, " has ", events.lanes.size(), " events for ",
                      request.tags.size(), " lanes"));
  }
  for (size_t i = 0; i < events.lanes.size() && i < request.tags.size(); ++i) {
    const linkw::LaneEvent& lane = events.lanes[i];
    if (lane.lane_tag != request.tags[i]) Fail(absl::StrCat("TICK-2: tick ", seq, ": order"));
    oracle_.Count(absl::StrCat("lane ", NameOfStatus(lane.status)));
  }
  if (!events.lanes.empty() && events.tick_id != request.tick_id) {
    Fail(absl::StrCat("TICK-2: tick ", seq, " names tick ", events.tick_id));
  }
  for (const linkw::StateOpDone& done : events.op_completions) {
    if (!done_.contains(done.op_handle)) Fail("OP-10: a tick lists an op before its DONE");
    if (!listed_.insert(done.op_handle).second) Fail("OP-10: an op was listed twice");
  }
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::StateOpAccepted& accepted) {
  if (request.op) return Fail(absl::StrCat("OP-1: op ", seq, " was accepted twice"));
  if (accepted.status != Status::kOk) {
    return Finish(seq, request, MessageType::kStateOpAccepted, accepted.status);
  }
  request.op = accepted.op_handle;
  if (!ops_.emplace(accepted.op_handle, seq).second) Fail("OP-1: two ops have one handle");
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::StateOpDone& done) {
  if (request.op != done.op_handle) Fail(absl::StrCat("OP-1: op ", seq, ": DONE before ACCEPTED"));
  if (!done_.insert(done.op_handle).second) Fail(absl::StrCat("OP-1: op ", seq, ": two DONEs"));
  oracle_.Count(done.state == linkw::OpState::kDone        ? "op done"
                : done.state == linkw::OpState::kCancelled ? "op cancelled"
                                                           : "op failed");
  Finish(seq, request, MessageType::kStateOpDone, done.error);
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::TranscribeSegment& segment) {
  if (request.finals > 0) Fail(absl::StrCat("STT-2: a segment of ", seq, " after its answer"));
  if (!request.streams) Fail(absl::StrCat("STT-2: a segment of ", seq, ", which did not ask"));
  if (segment.index != request.final_segments) {
    Fail(absl::StrCat("STT-2: segment ", segment.index, " of ", seq, ", not ",
                      request.final_segments));
  }
  if (segment.start_ms < request.last_start_ms || segment.end_ms < segment.start_ms) {
    Fail(absl::StrCat("STT-3: times of ", seq, " run backwards"));
  }
  Stepped(seq, request, segment.end_ms);
  if (segment.is_partial) return;
  ++request.final_segments;
  request.last_start_ms = segment.start_ms;
}

void LinkOracle::Stepped(uint64_t seq, Request& request, int64_t end_ms) {
  // Before its first step it may have waited for a place in the engine.
  if (request.ready_since_ns != 0 && request.steps++ > 0) {
    request.ready_ns += received_ns_ - request.ready_since_ns;
    CheckShare(seq, request, received_ns_);
  }
  request.heard_ms = std::max(request.heard_ms, end_ms);
  request.ready_since_ns = HasAudio(request) ? received_ns_ : 0;
}

// A job that could step gets its share of the engine's time (ALWAYS-8): n jobs and the other kinds
// of work share evenly, so k steps take about k * (n + 2) steps' time.
void LinkOracle::CheckShare(uint64_t seq, const Request& request, int64_t now_ns) {
  if (!request.steps_seen || request.steps == 0 || !always_read_ || request.stop_ns != 0) return;
  // A step that is slow or hangs comes in each job's life.
  if (oracle_.step_ns() == 0 || oracle_.fault_ns() != 0 || request.ready_since_ns == 0) return;
  const int64_t rivals = oracle_.most_open() + 2;
  const int64_t waits_ns = now_ns - request.ready_since_ns;
  if (waits_ns > kShareSlackNs + kShareSlack * rivals * oracle_.longest_ns()) {
    Fail(absl::StrCat("ALWAYS-8: job ", seq, " has audio and waits for ", waits_ns / kMs, " ms"));
  }
  const int64_t owed_ns = kShareSlack * rivals * request.steps * oracle_.step_ns();
  if (request.ready_ns > kShareSlackNs + owed_ns + 20 * oracle_.longest_ns()) {
    Fail(absl::StrCat("ALWAYS-8: job ", seq, " had ", request.steps, " steps in ",
                      request.ready_ns / kMs, " ms"));
  }
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::TranscribeProgress& progress) {
  if (request.finals > 0) Fail(absl::StrCat("STT-15: progress of ", seq, " after its answer"));
  if (progress.audio_ms < request.audio_ms)
    Fail(absl::StrCat("STT-15: progress of ", seq, " back"));
  request.audio_ms = progress.audio_ms;
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::StateSyncResult& result) {
  Finish(seq, request, MessageType::kStateSyncResult, result.status);
  if (request.transcription) CheckTranscript(request, result);
}

void LinkOracle::CheckTranscript(const Request& request, const linkw::StateSyncResult& result) {
  const auto* const transcript = std::get_if<linkw::TranscribeResult>(&result.reply);
  if (transcript == nullptr) {
    if (result.status == Status::kOk) Fail("STT-1: OK without a transcript");
    return;
  }
  if (transcript->stats.steps_after_cancel != 0) Fail("ALWAYS-7: a step began after the cancel");
  if (request.streams && transcript->segments.size() != request.final_segments) {
    Fail(absl::StrCat("STT-2: ", request.final_segments, " segments came, the answer has ",
                      transcript->segments.size()));
  }
  if (result.status == Status::kCancelled && !request.stop_was_asked) {
    if (!drain_was_asked_ && !oracle_.ends_allowed()) {
      Fail("ALWAYS-7: a transcription is CANCELLED, which nobody asked for");
    }
    oracle_.Count("cancelled by a drain");
  }
}

void LinkOracle::Got(uint64_t seq, Request& request, const linkw::Drained& /*drained*/) {
  Finish(seq, request, MessageType::kDrained, Status::kOk);
  drained_seq_ = seq;
  for (const auto& [other, open] : requests_) {
    if (other >= seq || open.finals > 0 || open.expect == Expect::kNothing) continue;
    Fail(absl::StrCat("DRAIN-2: DRAINED before the answer of ", other, " (", NameOfType(open.type),
                      ")"));
  }
}

template <class Other>
void LinkOracle::Got(uint64_t seq, Request& request, const Other& other) {
  const MessageType type = TypeOf()(other);
  if (type != AnswerTo(request.type)) {
    Fail(absl::StrCat(NameOfType(type), " answers ", NameOfType(request.type), " ", seq));
  }
  Finish(seq, request, type, StatusOf(other));
}

}  // namespace superfluid::simulation
