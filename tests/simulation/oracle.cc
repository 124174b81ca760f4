#include "tests/simulation/oracle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tests/simulation/message_names.h"

namespace superfluid::simulation {
namespace {

using linkw::MessageType;

// How long a message waits for its descriptor (CHAN-13), and what a timer may be late.
constexpr int64_t kDescriptorWaitNs = 5'000 * kMs;
constexpr int64_t kTimerSlackNs = 300 * kMs;
// A cancel takes effect within one micro-step; at rest no step is under way.
constexpr int64_t kStopSlackNs = 100 * kMs;
// The audio of the peers (16 kHz, 16 bits) and the segments of the sim engine, in this simulation.
constexpr int64_t kBytesPerMs = 32;
constexpr int64_t kSegmentMs = 100;
constexpr int64_t kClaimNs = 250 * kMs;  // ROLE-1
// Requests taken that wait for nothing but the link: 256 of CHAN-12, and as many answers.
constexpr size_t kMostHeld = 512;

}  // namespace

void LinkOracle::Fail(const std::string& what) {
  oracle_.Fail(absl::StrCat("link ", number_, ": ", what));
}

void LinkOracle::OnSent(uint64_t seq, const linkw::DriverMessage& message, int64_t now_ns) {
  Request request{.type = std::visit(TypeOf(), message), .sent_ns = now_ns};
  if (AnswerTo(request.type) == MessageType::kError) request.expect = Expect::kNothing;
  if (std::holds_alternative<linkw::Ping>(message)) request.instant = true;
  if (std::holds_alternative<linkw::DrainRequest>(message)) drain_was_asked_ = true;
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
  request.instant = std::holds_alternative<linkw::Capabilities>(call.call);
  const auto* const transcribe = std::get_if<linkw::Transcribe>(&call.call);
  if (transcribe == nullptr) return;
  request.transcription = true;
  request.control_slot = transcribe->control_slot;
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
    request.stop_is_word = false;
    request.stop_was_asked = true;
    request.live_open = false;
  }
}

void LinkOracle::OnStopWord(uint32_t slot, uint64_t seq, int64_t now_ns, bool seen) {
  const uint64_t before = std::exchange(stop_words_[slot], seq);
  if (before == seq) return;
  if (const auto it = requests_.find(before); it != requests_.end() && it->second.stop_is_word) {
    it->second.stop_ns = 0;
    it->second.stop_is_word = false;
  }
  const auto it = requests_.find(seq);
  if (it == requests_.end() || it->second.control_slot != slot) return;
  it->second.stop_was_asked = true;
  if (it->second.stop_ns != 0 || !seen) return;
  it->second.stop_ns = now_ns;
  it->second.stop_is_word = true;
}

void LinkOracle::OnSentOdd(uint64_t seq) {
  requests_.emplace(seq, Request{.type = MessageType::kError, .expect = Expect::kNothing});
}

void LinkOracle::OnBroke(std::string how) {
  if (broke_.empty()) broke_ = std::move(how);
  // The worker may end the link, and give its role away, before the peer reads that.
  oracle_.OnOver(*this);
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

void LinkOracle::AtRest(int64_t now_ns) {
  always_read_ = always_read_ && reading_;
  if (over() || !reading_ || oracle_.ends_allowed()) return;
  if (!broke_.empty()) return Fail(absl::StrCat("FRAME-16: the link stays after ", broke_));
  if (hello_seq_ != 0 && requests_.at(hello_seq_).finals == 0 &&
      now_ns - hello_ns_ > kClaimNs + kTimerSlackNs + oracle_.fault_ns()) {
    Fail("ROLE-1: HELLO has no answer");
  }
  if (!acked_) return;
  for (const auto& [seq, request] : requests_) {
    if (request.finals > 0) continue;
    if (request.type == MessageType::kPing) Fail(absl::StrCat("PING-1: ping ", seq, " waits"));
    CheckShare(seq, request, now_ns);
    if (HeldBack(now_ns)) continue;
    // A deadline counts from the receipt.
    const bool late =
        request.deadline_ns != 0 && !stopped_reading_ &&
        now_ns > request.deadline_ns + kTimerSlackNs + kDescriptorWaitNs + oracle_.fault_ns();
    if (late) {
      Fail(absl::StrCat(request.transcription ? "STT-6" : "TICK-23", ": ", seq,
                        " missed its deadline"));
    }
    if (request.stop_ns != 0 && now_ns > request.stop_ns + kStopSlackNs + oracle_.fault_ns()) {
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

void LinkOracle::CheckHeld(uint64_t taken, size_t in_stream) {
  const auto held =
      std::count_if(requests_.begin(), requests_.upper_bound(taken),
                    [](const auto& it) { return it.second.instant && it.second.finals == 0; });
  if (static_cast<size_t>(held) <= kMostHeld + in_stream) return;
  Fail(absl::StrCat("ALWAYS-4: ", held,
                    " requests were taken from a peer that does not read their answers"));
}

void Oracle::OnGranted(const LinkOracle& link) {
  // Of a link that the worker ended the peer reads late.
  if (driving_ != 0 && !ends_allowed_) {
    Fail(absl::StrCat("ROLE-1: link ", link.number(), " drives while link ", driving_, " does"));
  }
  driving_ = link.number();
}

void Oracle::OnOver(const LinkOracle& link) {
  if (driving_ == link.number()) driving_ = 0;
}

}  // namespace superfluid::simulation
