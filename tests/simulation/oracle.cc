#include "tests/simulation/oracle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "protocol/message_type.h"
#include "protocol/status.h"

namespace superfluid::simulation {
namespace {

using linkw::MessageType;
using linkw::Status;

std::string NameOfStatus(Status status) { return std::string(linkw::StatusName(status)); }
std::string NameOfType(MessageType type) { return std::string(linkw::MessageTypeName(type)); }

constexpr int64_t kMs = 1'000'000;
// How long a message waits for its descriptor (CHAN-13), and what a timer may be late.
constexpr int64_t kDescriptorWaitNs = 5'000 * kMs;
constexpr int64_t kTimerSlackNs = 300 * kMs;
// A cancel takes effect within one micro-step; at rest no step is under way.
constexpr int64_t kStopSlackNs = 100 * kMs;
// The audio of the peers (16 kHz, 16 bits) and the segments of the sim engine, in this simulation.
constexpr int64_t kBytesPerMs = 32;
constexpr int64_t kSegmentMs = 100;
// How often the share that a job is owed by plain arithmetic it may wait: the policy's own quanta.
constexpr int64_t kShareSlack = 3;
constexpr int64_t kShareSlackNs = 100 * kMs;
constexpr int64_t kClaimNs = 250 * kMs;  // ROLE-1

struct Names {
  MessageType operator()(const linkw::Hello&) const { return MessageType::kHello; }
  MessageType operator()(const linkw::RingAttach&) const { return MessageType::kRingAttach; }
  MessageType operator()(const linkw::ControlAttach&) const { return MessageType::kControlAttach; }
  MessageType operator()(const linkw::TickSubmit&) const { return MessageType::kTickSubmit; }
  MessageType operator()(const linkw::MatchRequest&) const { return MessageType::kMatchRequest; }
  MessageType operator()(const linkw::SeedAcquire&) const { return MessageType::kSeedAcquire; }
  MessageType operator()(const linkw::SeedRelease&) const { return MessageType::kSeedRelease; }
  MessageType operator()(const linkw::StateOpSubmit&) const { return MessageType::kStateOpSubmit; }
  MessageType operator()(const linkw::OpCancel&) const { return MessageType::kOpCancel; }
  MessageType operator()(const linkw::StateSyncRequest&) const {
    return MessageType::kStateSyncRequest;
  }
  MessageType operator()(const linkw::TranscribeCancel&) const {
    return MessageType::kTranscribeCancel;
  }
  MessageType operator()(const linkw::TranscribeAudio&) const {
    return MessageType::kTranscribeAudio;
  }
  MessageType operator()(const linkw::StrategyRegister&) const {
    return MessageType::kStrategyRegister;
  }
  MessageType operator()(const linkw::BufAlloc&) const { return MessageType::kBufAlloc; }
  MessageType operator()(const linkw::BufAttach&) const { return MessageType::kBufAttach; }
  MessageType operator()(const linkw::BufRelease&) const { return MessageType::kBufRelease; }
  MessageType operator()(const linkw::Ping&) const { return MessageType::kPing; }
  MessageType operator()(const linkw::DrainRequest&) const { return MessageType::kDrainRequest; }
  MessageType operator()(const linkw::Telemetry&) const { return MessageType::kTelemetry; }

  MessageType operator()(const linkw::HelloAck&) const { return MessageType::kHelloAck; }
  MessageType operator()(const linkw::Error&) const { return MessageType::kError; }
  MessageType operator()(const linkw::RingAck&) const { return MessageType::kRingAck; }
  MessageType operator()(const linkw::ControlAck&) const { return MessageType::kControlAck; }
  MessageType operator()(const linkw::TickResult&) const { return MessageType::kTickResult; }
  MessageType operator()(const linkw::TickEmit&) const { return MessageType::kTickEmit; }
  MessageType operator()(const linkw::MatchResult&) const { return MessageType::kMatchResult; }
  MessageType operator()(const linkw::SeedGrant&) const { return MessageType::kSeedGrant; }
  MessageType operator()(const linkw::StateOpAccepted&) const {
    return MessageType::kStateOpAccepted;
  }
  MessageType operator()(const linkw::StateOpDone&) const { return MessageType::kStateOpDone; }
  MessageType operator()(const linkw::StateSyncResult&) const {
    return MessageType::kStateSyncResult;
  }
  MessageType operator()(const linkw::TranscribeSegment&) const {
    return MessageType::kTranscribeSegment;
  }
  MessageType operator()(const linkw::TranscribeProgress&) const {
    return MessageType::kTranscribeProgress;
  }
  MessageType operator()(const linkw::StrategyGrant&) const { return MessageType::kStrategyGrant; }
  MessageType operator()(const linkw::BufAlloced&) const { return MessageType::kBufAlloced; }
  MessageType operator()(const linkw::Pong&) const { return MessageType::kPong; }
  MessageType operator()(const linkw::Drained&) const { return MessageType::kDrained; }
};

// Returns the type of the message that answers a message of `type`; kError: none does.
MessageType AnswerTo(MessageType type) {
  switch (type) {
    case MessageType::kHello:
      return MessageType::kHelloAck;
    case MessageType::kRingAttach:
      return MessageType::kRingAck;
    case MessageType::kControlAttach:
      return MessageType::kControlAck;
    case MessageType::kTickSubmit:
      return MessageType::kTickResult;
    case MessageType::kMatchRequest:
      return MessageType::kMatchResult;
    case MessageType::kSeedAcquire:
      return MessageType::kSeedGrant;
    case MessageType::kStateSyncRequest:
      return MessageType::kStateSyncResult;
    case MessageType::kStrategyRegister:
      return MessageType::kStrategyGrant;
    case MessageType::kBufAlloc:
      return MessageType::kBufAlloced;
    case MessageType::kPing:
      return MessageType::kPong;
    case MessageType::kDrainRequest:
      return MessageType::kDrained;
    default:
      return MessageType::kError;
  }
}

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

void LinkOracle::Fail(const std::string& what) {
  oracle_.Fail(absl::StrCat("link ", number_, ": ", what));
}

void LinkOracle::OnSent(uint64_t seq, const linkw::DriverMessage& message, int64_t now_ns) {
  Request request{.type = std::visit(Names(), message), .sent_ns = now_ns};
  if (AnswerTo(request.type) == MessageType::kError) request.expect = Expect::kNothing;
  if (std::holds_alternative<linkw::StateOpSubmit>(message)) request.expect = Expect::kOp;
  if (const auto* tick = std::get_if<linkw::TickSubmit>(&message)) Sent(request, *tick);
  if (const auto* call = std::get_if<linkw::StateSyncRequest>(&message)) Sent(request, *call);
  if (const auto* cancel = std::get_if<linkw::TranscribeCancel>(&message)) {
    SentCancel(cancel->request_seq, now_ns);
  }
  if (const auto* audio = std::get_if<linkw::TranscribeAudio>(&message)) {
    SentAudio(*audio, now_ns);
  }
  if (std::holds_alternative<linkw::Hello>(message) && hello_seq_ == 0) {
    hello_seq_ = seq;
    hello_ns_ = now_ns;
  }
  if (request.transcription) oracle_.AddOpen(1);
  requests_.emplace(seq, std::move(request));
}

void LinkOracle::SentAudio(const linkw::TranscribeAudio& audio, int64_t now_ns) {
  const auto it = requests_.find(audio.request_seq);
  if (it == requests_.end() || !it->second.live_open) return;
  Request& request = it->second;
  const auto* const bytes = std::get_if<std::string>(&audio.data);
  if (bytes == nullptr) request.steps_seen = false;  // the span may be refused
  if (bytes != nullptr) request.sent_audio_ms += static_cast<int64_t>(bytes->size()) / kBytesPerMs;
  if (audio.end_of_stream) request.live_open = false;
  if (request.ready_since_ns == 0 && HasAudio(request)) request.ready_since_ns = now_ns;
}

bool LinkOracle::HasAudio(const Request& request) {
  return request.sent_audio_ms >= request.heard_ms + kSegmentMs;
}

void LinkOracle::Sent(Request& request, const linkw::TickSubmit& tick) {
  request.tick_id = tick.plan.tick_id;
  for (const linkw::Lane& lane : tick.plan.lanes) request.tags.push_back(lane.lane_tag);
  if (tick.plan.deadline_us != 0) {
    request.deadline_ns = request.sent_ns + static_cast<int64_t>(tick.plan.deadline_us) * 1000;
  }
}

void LinkOracle::Sent(Request& request, const linkw::StateSyncRequest& call) {
  const auto* const transcribe = std::get_if<linkw::Transcribe>(&call.call);
  if (transcribe == nullptr) return;
  request.transcription = true;
  request.streams = transcribe->stream;
  request.steps_seen = transcribe->stream && transcribe->partial_results &&
                       std::holds_alternative<linkw::AudioLive>(transcribe->audio) &&
                       !HeldBack(request.sent_ns);
  request.live_open = std::holds_alternative<linkw::AudioLive>(transcribe->audio);
  if (transcribe->deadline_ms != 0) {
    request.deadline_ns = request.sent_ns + int64_t{transcribe->deadline_ms} * kMs;
  }
}

void LinkOracle::SentCancel(uint64_t request_seq, int64_t now_ns) {
  for (auto& [seq, request] : requests_) {
    if (!request.transcription || (request_seq != 0 && seq != request_seq)) continue;
    if (request.stop_ns == 0) request.stop_ns = now_ns;
    request.live_open = false;
  }
}

void LinkOracle::OnStopWord(uint64_t seq, int64_t now_ns) {
  const auto it = requests_.find(seq);
  if (it == requests_.end() || it->second.stop_ns != 0) return;
  it->second.stop_ns = now_ns;
}

void LinkOracle::OnSentOdd(uint64_t seq) {
  requests_.emplace(seq, Request{.type = MessageType::kError, .expect = Expect::kNothing});
}

void LinkOracle::OnBroke(std::string how) {
  if (broke_.empty()) broke_ = std::move(how);
}

void LinkOracle::OnHungUp() {
  hung_up_ = true;
  oracle_.OnOver(*this);
}

void LinkOracle::OnDescriptorMissing(int64_t now_ns) {
  held_until_ns_ = std::max(held_until_ns_, now_ns + kDescriptorWaitNs + kTimerSlackNs);
  // Audio that is sent from here on may be held back.
  for (auto& [seq, request] : requests_) request.steps_seen = false;
}

void LinkOracle::OnPaused(int64_t time_ns) {
  hello_ns_ += time_ns;
  for (auto& [seq, request] : requests_) {
    if (request.ready_since_ns != 0) request.ready_since_ns += time_ns;
    // It may not have been received before, and a deadline counts from there.
    if (request.deadline_ns != 0) request.deadline_ns += time_ns;
  }
}

void LinkOracle::OnReceived(const linkw::FrameHeader& header, const linkw::WorkerMessage& message,
                            int64_t now_ns) {
  const MessageType type = std::visit(Names(), message);
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
  if (oracle_.step_ns() == 0 || request.ready_since_ns == 0) return;
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
  if (result.status == Status::kCancelled && request.stop_ns == 0 && drained_seq_ == 0 &&
      !oracle_.ends_allowed()) {
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
  const MessageType type = Names()(other);
  if (type != AnswerTo(request.type)) {
    Fail(absl::StrCat(NameOfType(type), " answers ", NameOfType(request.type), " ", seq));
  }
  Finish(seq, request, type, StatusOf(other));
}

void LinkOracle::AtRest(int64_t now_ns) {
  always_read_ = always_read_ && reading_;
  if (over() || !reading_ || oracle_.ends_allowed()) return;
  if (!broke_.empty()) return Fail(absl::StrCat("FRAME-16: the link stays after ", broke_));
  if (hello_seq_ != 0 && requests_.at(hello_seq_).finals == 0 &&
      now_ns - hello_ns_ > kClaimNs + kTimerSlackNs) {
    Fail("ROLE-1: HELLO has no answer");
  }
  if (!acked_) return;
  for (const auto& [seq, request] : requests_) {
    if (request.finals > 0) continue;
    if (request.type == MessageType::kPing) Fail(absl::StrCat("PING-1: ping ", seq, " waits"));
    CheckShare(seq, request, now_ns);
    if (HeldBack(now_ns)) continue;
    const bool late = request.deadline_ns != 0 &&
                      now_ns > request.deadline_ns + kTimerSlackNs + kDescriptorWaitNs;
    if (late) {
      Fail(absl::StrCat(request.transcription ? "STT-6" : "TICK-23", ": ", seq,
                        " missed its deadline"));
    }
    if (request.stop_ns != 0 && now_ns > request.stop_ns + kStopSlackNs) {
      Fail(absl::StrCat("ALWAYS-7: ", seq, " goes on ", (now_ns - request.stop_ns) / kMs,
                        " ms after its cancel"));
    }
  }
}

void LinkOracle::AtEnd() {
  if (over()) return;
  for (const auto& [seq, request] : requests_) {
    if (request.expect == Expect::kNothing || request.finals > 0) continue;
    Fail(absl::StrCat("ALWAYS-1: request ", seq, " (", NameOfType(request.type),
                      request.transcription ? ", speech" : "", ") was never answered"));
  }
}

std::vector<uint64_t> LinkOracle::OpenLive() const {
  std::vector<uint64_t> open;
  for (const auto& [seq, request] : requests_) {
    if (request.live_open && request.finals == 0) open.push_back(seq);
  }
  return open;
}

std::vector<uint64_t> LinkOracle::OpenTranscriptions() const {
  std::vector<uint64_t> open;
  for (const auto& [seq, request] : requests_) {
    if (request.transcription && request.finals == 0) open.push_back(seq);
  }
  return open;
}

std::vector<linkw::OpHandle> LinkOracle::OpenOps() const {
  std::vector<linkw::OpHandle> open;
  for (const auto& [handle, seq] : ops_) {
    if (!done_.contains(handle)) open.push_back(handle);
  }
  return open;
}

size_t LinkOracle::Unanswered() const {
  return static_cast<size_t>(std::count_if(requests_.begin(), requests_.end(), [](const auto& it) {
    return it.second.expect != Expect::kNothing && it.second.finals == 0;
  }));
}

void Oracle::OnGranted(const LinkOracle& link) {
  if (driving_ != 0) {
    Fail(absl::StrCat("ROLE-1: link ", link.number(), " drives while link ", driving_, " does"));
  }
  driving_ = link.number();
}

void Oracle::OnOver(const LinkOracle& link) {
  if (driving_ == link.number()) driving_ = 0;
}

}  // namespace superfluid::simulation
