#include "tests/tools/ctl/token_worker.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>
#include <variant>

#include "tests/protocol/sealed_state.h"

namespace superfluid::ctl {
namespace {

using linkw::Status;

constexpr uint32_t kConvBoundary = 4;

linkw::RingSpec Announce(const RingSpec& spec, linkw::RingKind kind) {
  return {linkw::RingId{spec.id}, kind, spec.slot_bytes, spec.slots};
}

linkw::StateSpaceDescriptor Space(uint32_t id, const char* name, uint32_t boundary) {
  linkw::StateSpaceDescriptor space;
  space.space_id = linkw::SpaceId{id};
  space.name = name;
  space.bytes_per_token = 4;
  space.boundary_tokens = boundary;
  space.compat_key.fill(static_cast<uint8_t>(id + 1));
  return space;
}

void Describe(linkw::HelloAck& hello) {
  hello.capabilities_json = R"({"name":"token fake","vocab_size":300,"context_tokens":100000})";
  hello.limits.ring_specs = {Announce(kTokenInRing, linkw::RingKind::kTokens),
                             Announce(kTokenOutRing, linkw::RingKind::kTokens),
                             Announce(kLogitsRing, linkw::RingKind::kLogits)};
  hello.limits.max_lanes = 256;
  hello.limits.op_window = 16;
  hello.engine_bundle_hash.fill(0xEE);
  hello.state_space_descriptors = {Space(0, "kv", 1), Space(1, "conv", kConvBoundary)};
}

uint64_t Raw(linkw::SequenceId id) { return static_cast<uint64_t>(id); }

template <typename T>
linkw::StateSyncResult Ok(T reply) {
  return {.status = Status::kOk, .message = {}, .reply = std::move(reply)};
}

}  // namespace

std::vector<linkw::Token> TokenWorker::Draw(std::vector<linkw::Token> history, size_t count,
                                            uint64_t seed) {
  std::vector<linkw::Token> drawn;
  for (size_t i = 0; i < count; ++i) {
    uint64_t mix = seed + 17 * history.size();
    for (const linkw::Token token : history) mix = mix * 31 + token;
    drawn.push_back(static_cast<linkw::Token>('a' + mix % 26));
    history.push_back(drawn.back());
  }
  return drawn;
}

TokenWorker::TokenWorker(Script script)
    : script_(std::move(script)),
      worker([this](FakeLink& link, uint64_t seq, const linkw::DriverMessage& message) {
        if (!script_.instead || !script_.instead(link, seq, message)) Handle(link, seq, message);
      }) {
  Describe(hello());
  worker.on_ping = [this](FakeLink&) { OnPing(); };
}

void TokenWorker::Defer(std::function<void()> answer) {
  if (script_.pings_before_answer == 0) return answer();
  deferred_ = std::move(answer);
  pings_left_ = script_.pings_before_answer;
}

void TokenWorker::OnPing() {
  if (deferred_ && --pings_left_ == 0) std::exchange(deferred_, nullptr)();
}

std::vector<linkw::TickPlan> TokenWorker::Plans() {
  std::vector<linkw::TickPlan> plans;
  for (const linkw::DriverMessage& message : worker.messages()) {
    if (const auto* tick = std::get_if<linkw::TickSubmit>(&message)) plans.push_back(tick->plan);
  }
  return plans;
}

void TokenWorker::Handle(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message) {
  if (const auto* ring = std::get_if<linkw::RingAttach>(&message)) {
    Attach(link, seq, *ring);
  } else if (const auto* control = std::get_if<linkw::ControlAttach>(&message)) {
    Attach(link, seq, *control);
  } else if (const auto* tick = std::get_if<linkw::TickSubmit>(&message)) {
    Defer([this, &link, seq, plan = tick->plan] { RunTick(link, seq, plan); });
  } else if (const auto* call = std::get_if<linkw::StateSyncRequest>(&message)) {
    Answer(link, seq, call->call);
  } else if (const auto* op = std::get_if<linkw::StateOpSubmit>(&message)) {
    RunOp(link, seq, op->op);
  } else if (const auto* alloc = std::get_if<linkw::BufAlloc>(&message)) {
    Segment segment = *Segment::Create(alloc->len, "test");
    const OwnedFd fd = *segment.DuplicateFd();
    worker.SendFd(static_cast<uint64_t>(alloc->buf_id), fd.get());
    buffers_[static_cast<uint64_t>(alloc->buf_id)] = std::move(segment);
    link.Send(linkw::BufAlloced{Status::kOk, "", alloc->buf_id, alloc->len}, seq);
  } else if (const auto* attach = std::get_if<linkw::BufAttach>(&message)) {
    auto [tag, fd] = worker.ReceiveFd();
    buffers_[tag] = *Segment::Attach(std::move(fd), attach->len, SegmentAccess::kReadWrite);
  }
}

void TokenWorker::Attach(FakeLink& link, uint64_t seq, const linkw::RingAttach& attach) {
  auto [tag, fd] = worker.ReceiveFd();
  const RingSpec* spec = &kTokenInRing;
  if (tag == kTokenOutRing.id) spec = &kTokenOutRing;
  if (tag == kLogitsRing.id) spec = &kLogitsRing;
  Segment segment = *Segment::Attach(std::move(fd), *RingBytes(*spec), SegmentAccess::kReadWrite);
  if (spec == &kTokenInRing) {
    in_.emplace(*RingReader::Open(std::move(segment), *spec));
  } else {
    (spec == &kTokenOutRing ? out_ : logits_).emplace(*RingWriter::Open(std::move(segment), *spec));
  }
  link.Send(linkw::RingAck{attach.ring_id, 1}, seq);
}

void TokenWorker::Attach(FakeLink& link, uint64_t seq, const linkw::ControlAttach& attach) {
  auto [tag, fd] = worker.ReceiveFd();
  control_.emplace(*WorkerControl::Attach(std::move(fd), attach.bytes));
  link.Send(linkw::ControlAck{attach.bytes}, seq);
}

// ---- Ticks

linkw::TokenSpan TokenWorker::Put(RingWriter& ring, const std::vector<uint32_t>& words) {
  const SpanRef ref = *ring.Write(next_out_slot_ % ring.spec().slots, words, 0);
  ++next_out_slot_;
  return {linkw::RingId{ref.ring}, ref.slot, ref.generation, ref.offset, ref.count};
}

void TokenWorker::Emit(FakeLink& link, uint64_t seq, const linkw::TickPlan& plan,
                       const linkw::Lane& lane, linkw::Token token, size_t index) {
  if (!script_.emits || (plan.flags & linkw::kTickFlagPartialEmits) == 0) return;
  if (index >= script_.drop_emits_from) return;
  link.Send(linkw::TickEmit{plan.tick_id, lane.lane_tag, {token}, static_cast<uint32_t>(index)},
            seq);
}

linkw::LaneEvent TokenWorker::RunLane(FakeLink& link, uint64_t seq, const linkw::TickPlan& plan,
                                      const linkw::Lane& lane) {
  linkw::LaneEvent event;
  event.lane_tag = lane.lane_tag;
  event.sequence = Raw(lane.sequence) == 0 ? linkw::SequenceId{++last_sequence_} : lane.sequence;
  History& history = sequences_[Raw(event.sequence)];
  std::vector<uint32_t> input(lane.input.count);
  if (!input.empty()) {
    EXPECT_TRUE(in_->Read({static_cast<uint32_t>(lane.input.ring_id), lane.input.slot,
                           lane.input.generation, lane.input.offset, lane.input.count},
                          absl::MakeSpan(input))
                    .ok());
  }
  history.insert(history.end(), input.begin(), input.end());
  std::vector<uint32_t> drawn;
  while (drawn.size() < lane.max_tokens) {
    const linkw::Token token = Draw(history, 1, lane.sampling.seed).front();
    history.push_back(token);
    drawn.push_back(token);
    Emit(link, seq, plan, lane, token, drawn.size() - 1);
    for (const linkw::Token stop : lane.stop_tokens) {
      if (stop == token) event.finish_reason = linkw::FinishReason::kStopToken;
    }
    if (event.finish_reason != linkw::FinishReason::kNotFinished) break;
    if (!script_.wait_for_stop) continue;
    while (!control_->LaneStopped(lane.stop_slot - 1)) std::this_thread::yield();
    if (!script_.answers_stop) Emit(link, seq, plan, lane, token, drawn.size());
    event.finish_reason = linkw::FinishReason::kStopped;
    break;
  }
  if (!drawn.empty()) event.out = Put(*out_, drawn);
  if (lane.want_logits) {
    event.logits =
        Put(*logits_, {65, std::bit_cast<uint32_t>(3.25f), 66, std::bit_cast<uint32_t>(1.5f)});
  }
  event.position = history.size();
  return event;
}

void TokenWorker::RunTick(FakeLink& link, uint64_t seq, const linkw::TickPlan& plan) {
  linkw::TickResult result;
  result.events.tick_id = plan.tick_id;
  for (const linkw::Lane& lane : plan.lanes) {
    result.events.lanes.push_back(RunLane(link, seq, plan, lane));
  }
  if (script_.change_result) script_.change_result(result);
  if (script_.answers_stop) link.Send(result, seq);
}

// ---- Calls and ops

void TokenWorker::Answer(FakeLink& link, uint64_t seq, const linkw::StateSyncCall& call) {
  if (std::holds_alternative<linkw::CreateSequence>(call)) {
    sequences_[++last_sequence_];
    link.Send(Ok(linkw::CreateSequenceResult{linkw::SequenceId{last_sequence_}}), seq);
  } else if (std::holds_alternative<linkw::CreateGrammar>(call)) {
    link.Send(Ok(linkw::CreateGrammarResult{linkw::GrammarHandle{77}}), seq);
  } else if (const auto* boundary = std::get_if<linkw::SnapshotBoundary>(&call)) {
    const bool conv = boundary->space_id == linkw::SpaceId{1};
    const uint64_t cap = boundary->cap;
    link.Send(Ok(linkw::SnapshotBoundaryResult{conv ? cap - cap % kConvBoundary : cap}), seq);
  } else if (const auto* size = std::get_if<linkw::ExportSize>(&call)) {
    link.Send(Ok(linkw::ExportSizeResult{4 * (size->range.end - size->range.start), 5}), seq);
  } else {
    link.Send(linkw::StateSyncResult{.status = Status::kUnsupported, .message = "no", .reply = {}},
              seq);
  }
}

void TokenWorker::RunOp(FakeLink& link, uint64_t seq, const linkw::StateOp& op) {
  const linkw::OpHandle handle{++last_op_};
  link.Send(linkw::StateOpAccepted{Status::kOk, "", handle}, seq);
  Defer([this, &link, seq, op, handle] { FinishOp(link, seq, op, handle); });
}

void TokenWorker::FinishOp(FakeLink& link, uint64_t seq, const linkw::StateOp& op,
                           linkw::OpHandle handle) {
  if (const auto* snapshot = std::get_if<linkw::Snapshot>(&op)) Seal(*snapshot);
  if (const auto* restore = std::get_if<linkw::Restore>(&op)) Unseal(*restore);
  link.Send(linkw::StateOpDone{handle, linkw::OpState::kDone, Status::kOk, "", 1}, seq);
}

void TokenWorker::Seal(const linkw::Snapshot& snapshot) {
  EXPECT_EQ(snapshot.sizing_gen, 5u);
  const History& history = sequences_[Raw(snapshot.sequence)];
  const std::string payload(reinterpret_cast<const char*>(history.data()),
                            snapshot.boundary_pos * sizeof(linkw::Token));
  linkw::StateEnvelope envelope;
  envelope.compat_key.fill(static_cast<uint8_t>(static_cast<uint32_t>(snapshot.space_id) + 1));
  envelope.provenance.fill(9);
  envelope.space_id = snapshot.space_id;
  envelope.range = {0, snapshot.boundary_pos};
  std::string sealed = linkw::SealState(envelope, payload);
  if (script_.change_sealed) script_.change_sealed(sealed);
  Segment& buffer = buffers_[static_cast<uint64_t>(snapshot.buf_id)];
  ASSERT_GE(buffer.size(), sealed.size());
  std::memcpy(buffer.data(), sealed.data(), sealed.size());
}

void TokenWorker::Unseal(const linkw::Restore& restore) {
  const Segment& buffer = buffers_[static_cast<uint64_t>(restore.buf_id)];
  const auto envelope = linkw::CheckSealedState({buffer.data(), buffer.size()});
  ASSERT_TRUE(envelope.ok()) << envelope.status();
  EXPECT_EQ(envelope->space_id, restore.space_id);
  History& history = sequences_[Raw(restore.sequence)];
  history.resize(envelope->range.end);
  std::memcpy(history.data(), buffer.data() + linkw::kStateEnvelopeBytes, envelope->payload_bytes);
}

}  // namespace superfluid::ctl
