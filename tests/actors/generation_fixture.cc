#include "tests/actors/generation_fixture.h"

#include <utility>

namespace superfluid {
namespace {

linkw::RingAttach Attach(const RingSpec& spec) {
  return {.ring_id = linkw::RingId(spec.id),
          .layout = {.ring_id = linkw::RingId(spec.id),
                     .kind = spec.id == kLogitsRing.id ? linkw::RingKind::kLogits
                                                       : linkw::RingKind::kTokens,
                     .slot_bytes = spec.slot_bytes,
                     .slots = spec.slots}};
}

}  // namespace

Peer& GenerationFixture::StartDriver() {
  Start();
  return NextDriver();
}

Peer& GenerationFixture::NextDriver(size_t capacity_bytes) {
  Peer& peer = Connect(true, capacity_bytes);
  const uint64_t hello = peer.SendHello();
  Run();
  peer.Expect<linkw::HelloAck>(hello);
  rings_.emplace();
  control_ = DaemonControl::Create().value();
  peer.SendFd(kTokenInRing.id, rings_->in.segment().DuplicateFd()->get());
  peer.SendFd(kTokenOutRing.id, rings_->out.segment().DuplicateFd()->get());
  peer.SendFd(kLogitsRing.id, rings_->logits.segment().DuplicateFd()->get());
  peer.SendFd(linkw::kControlTag, control_->DuplicateFd()->get());
  for (const RingSpec& spec : {kTokenInRing, kTokenOutRing, kLogitsRing}) peer.Send(Attach(spec));
  peer.Send(linkw::ControlAttach{kControlBytes});
  Run();
  EXPECT_EQ(peer.received().size(), 4);
  peer.received().clear();
  return peer;
}

linkw::TokenSpan GenerationFixture::Write(const std::vector<uint32_t>& tokens) {
  if (tokens.empty()) return {};
  const SpanRef span = rings_->in.Write(next_slot_++ % kTokenInRing.slots, tokens, 0).value();
  return {linkw::RingId{span.ring}, span.slot, span.generation, span.offset, span.count};
}

std::vector<uint32_t> GenerationFixture::ReadOut(const linkw::TokenSpan& span) const {
  std::vector<uint32_t> tokens(span.count);
  if (tokens.empty()) return tokens;
  const SpanRef ref{static_cast<uint32_t>(span.ring_id), span.slot, span.generation, span.offset,
                    span.count};
  EXPECT_TRUE(rings_->out.Read(ref, absl::MakeSpan(tokens)).ok());
  return tokens;
}

linkw::Lane GenerationFixture::Lane(uint64_t tag, linkw::SequenceId sequence,
                                    const std::vector<uint32_t>& input, uint32_t max_tokens) {
  linkw::Lane lane;
  lane.lane_tag = linkw::LaneTag{tag};
  lane.sequence = sequence;
  lane.input = Write(input);
  lane.kind = max_tokens == 0 ? linkw::LaneKind::kPrefill : linkw::LaneKind::kDecode;
  lane.max_tokens = max_tokens;
  return lane;
}

uint64_t GenerationFixture::SendTick(Peer& peer, std::vector<linkw::Lane> lanes, uint32_t flags,
                                     uint64_t deadline_us) {
  return peer.Send(linkw::TickSubmit{{.tick_id = ++ticks_,
                                      .flags = flags,
                                      .deadline_us = deadline_us,
                                      .lanes = std::move(lanes)}});
}

linkw::LaneEvent GenerationFixture::RunLane(Peer& peer, const linkw::Lane& lane,
                                            std::vector<uint32_t>* tokens) {
  const uint64_t seq = SendTick(peer, {lane});
  Run();
  const auto result = peer.Expect<linkw::TickResult>(seq);
  EXPECT_EQ(result.status, linkw::Status::kOk) << result.message;
  if (result.events.lanes.size() != 1) return {};
  const linkw::LaneEvent& event = result.events.lanes[0];
  EXPECT_EQ(event.status, linkw::Status::kOk) << event.message;
  if (tokens != nullptr) *tokens = ReadOut(event.out);
  return event;
}

linkw::SequenceId GenerationFixture::Prefill(Peer& peer, const std::vector<uint32_t>& prompt) {
  return RunLane(peer, Lane(1, {}, prompt, 0)).sequence;
}

std::vector<uint32_t> GenerationFixture::Decode(Peer& peer, linkw::SequenceId sequence,
                                                uint32_t tokens) {
  std::vector<uint32_t> drawn;
  RunLane(peer, Lane(1, sequence, {}, tokens), &drawn);
  return drawn;
}

linkw::StateSyncResult GenerationFixture::CallAny(Peer& peer, linkw::StateSyncCall call) {
  const uint64_t seq = peer.Send(linkw::StateSyncRequest{std::move(call)});
  Run();
  return peer.Expect<linkw::StateSyncResult>(seq);
}

Segment& GenerationFixture::AttachBuffer(Peer& peer, uint64_t id, uint64_t bytes) {
  Segment& segment = buffers_[id] = Segment::Create(bytes, "buffer").value();
  peer.SendFd(id, segment.DuplicateFd()->get());
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId{id}, .len = bytes});
  return segment;
}

linkw::Snapshot GenerationFixture::SnapshotOf(Peer& peer, linkw::SequenceId sequence,
                                              uint32_t space, uint64_t length, uint64_t buffer) {
  const auto size =
      Call<linkw::ExportSizeResult>(peer, linkw::ExportSize{.sequence = sequence,
                                                            .space_id = linkw::SpaceId{space},
                                                            .range = {0, length},
                                                            .encoding = 0});
  AttachBuffer(peer, buffer, 160 + size.required_bytes);
  return {.sequence = sequence,
          .space_id = linkw::SpaceId{space},
          .boundary_pos = length,
          .buf_id = linkw::BufId{buffer},
          .sizing_gen = size.sizing_gen};
}

linkw::StateOpDone GenerationFixture::RunOp(Peer& peer, const linkw::StateOp& op) {
  const uint64_t seq = peer.Send(linkw::StateOpSubmit{op});
  Run();
  const auto accepted = peer.Expect<linkw::StateOpAccepted>(seq);
  if (accepted.status != linkw::Status::kOk) {
    return {
        .state = linkw::OpState::kFailed, .error = accepted.status, .message = accepted.message};
  }
  for (int i = 0; peer.empty() && i < 1000; ++i) Advance(absl::Milliseconds(5));
  auto done = peer.Expect<linkw::StateOpDone>(seq);
  EXPECT_EQ(done.op_handle, accepted.op_handle);
  return done;
}

linkw::MemCounters GenerationFixture::Memory(Peer& peer) {
  const uint64_t seq = peer.Send(linkw::Ping{});
  Run();
  return peer.Expect<linkw::Pong>(seq).mem;
}

}  // namespace superfluid
