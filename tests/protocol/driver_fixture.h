#ifndef SUPERFLUID_TESTS_PROTOCOL_DRIVER_FIXTURE_H_
#define SUPERFLUID_TESTS_PROTOCOL_DRIVER_FIXTURE_H_

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "protocol/driver/driver_rings.h"
#include "shm/control.h"
#include "shm/fd_passing.h"
#include "shm/ring.h"
#include "shm/segment.h"
#include "tests/protocol/client_fixture.h"

namespace superfluid::linkw {

inline RingSpec Announce(const superfluid::RingSpec& spec, RingKind kind) {
  return {RingId{spec.id}, kind, spec.slot_bytes, spec.slots};
}

// What a worker says that runs ticks.
inline HelloAck HelloAckWithRings() {
  HelloAck ack = SampleHelloAck();
  ack.limits.ring_specs = {Announce(superfluid::kTokenInRing, RingKind::kTokens),
                           Announce(superfluid::kTokenOutRing, RingKind::kTokens),
                           Announce(superfluid::kLogitsRing, RingKind::kLogits)};
  ack.limits.max_lanes = 256;
  return ack;
}

// A driver with its shared memory, and the worker's side of that.
class DriverTest : public ClientTest {
 protected:
  // A descriptor that the client sent before a message that was read.
  OwnedFd TakeFd(uint64_t tag) {
    auto received = TaggedFdReceiver(worker_fds_.get()).Receive();
    EXPECT_TRUE(received.ok()) << received.status();
    if (!received.ok() || !received->item.has_value()) {
      ADD_FAILURE() << "no descriptor came";
      return {};
    }
    EXPECT_EQ(received->item->tag, tag);
    return std::move(received->item->fd);
  }

  Segment TakeSegment(uint64_t tag, uint64_t bytes) {
    auto segment = Segment::Attach(TakeFd(tag), bytes, SegmentAccess::kReadWrite);
    EXPECT_TRUE(segment.ok()) << segment.status();
    return segment.ok() ? *std::move(segment) : Segment();
  }

  Segment AnswerRingAttach(const superfluid::RingSpec& spec) {
    uint64_t seq = 0;
    const auto attach = worker_->Expect<RingAttach>(&seq);
    EXPECT_EQ(attach.ring_id, RingId{spec.id});
    EXPECT_EQ(attach.layout.slot_bytes, spec.slot_bytes);
    EXPECT_EQ(attach.layout.slots, spec.slots);
    Segment segment = TakeSegment(spec.id, *RingBytes(spec));
    worker_->Send(seq, RingAck{attach.ring_id, 1});
    return segment;
  }

  void AnswerControlAttach() {
    uint64_t seq = 0;
    const auto attach = worker_->Expect<ControlAttach>(&seq);
    auto control = WorkerControl::Attach(TakeFd(kControlTag), attach.bytes);
    ASSERT_TRUE(control.ok()) << control.status();
    control_.emplace(*std::move(control));
    worker_->Send(seq, ControlAck{attach.bytes});
  }

  std::future<absl::StatusOr<std::unique_ptr<DriverRings>>> StartAttach() {
    return std::async(std::launch::async, [this] { return DriverRings::Attach(*client_); });
  }

  void AttachRings() {
    auto attached = StartAttach();
    AnswerControlAttach();
    in_.emplace(
        *RingReader::Open(AnswerRingAttach(superfluid::kTokenInRing), superfluid::kTokenInRing));
    out_.emplace(
        *RingWriter::Open(AnswerRingAttach(superfluid::kTokenOutRing), superfluid::kTokenOutRing));
    logits_.emplace(
        *RingWriter::Open(AnswerRingAttach(superfluid::kLogitsRing), superfluid::kLogitsRing));
    auto rings = attached.get();
    ASSERT_TRUE(rings.ok()) << rings.status();
    rings_ = *std::move(rings);
  }

  std::unique_ptr<DriverRings> rings_;
  std::optional<WorkerControl> control_;
  std::optional<RingReader> in_;
  std::optional<RingWriter> out_;
  std::optional<RingWriter> logits_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_DRIVER_FIXTURE_H_
