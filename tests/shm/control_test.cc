#include "shm/control.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>

#include "shm/segment.h"
#include "shm/shared_word.h"
#include "tests/shm/fd_test_util.h"
#include "tests/shm/single_step.h"

namespace superfluid {
namespace {

using ::superfluid::testing::InterruptAtEveryInstruction;
using ::superfluid::testing::MakeMemfd;

class ControlTest : public ::testing::Test {
 protected:
  static DaemonControl CreateDaemon() {
    absl::StatusOr<DaemonControl> daemon = DaemonControl::Create();
    EXPECT_TRUE(daemon.ok()) << daemon.status();
    return *std::move(daemon);
  }

  static WorkerControl AttachWorker(const DaemonControl& daemon) {
    absl::StatusOr<WorkerControl> worker =
        WorkerControl::Attach(*daemon.DuplicateFd(), kControlBytes);
    EXPECT_TRUE(worker.ok()) << worker.status();
    return *std::move(worker);
  }

  // The bytes as somebody sees them who knows only the documented layout.
  static Segment AttachRaw(const DaemonControl& daemon) {
    absl::StatusOr<Segment> raw =
        Segment::Attach(*daemon.DuplicateFd(), kControlBytes, SegmentAccess::kReadWrite);
    EXPECT_TRUE(raw.ok()) << raw.status();
    return *std::move(raw);
  }

  DaemonControl daemon_ = CreateDaemon();
  WorkerControl worker_ = AttachWorker(daemon_);
  Segment raw_ = AttachRaw(daemon_);
};

TEST_F(ControlTest, HeaderHasTheDocumentedBytes) {
  EXPECT_EQ(std::memcmp(raw_.data(), "SFLC\1\0\0\0\xC0\x20\0\0\0\0\0\0\0\1\0\0\0\4\0\0", 24), 0);
  EXPECT_EQ(kControlBytes, 0x20C0u);
}

TEST_F(ControlTest, HeartbeatReachesTheDaemon) {
  EXPECT_EQ(*daemon_.ReadHeartbeat(), Heartbeat{});
  worker_.Beat({.tick_id = 7, .monotonic_ns = 123456789});
  EXPECT_EQ(*daemon_.ReadHeartbeat(), (Heartbeat{7, 123456789}));
  worker_.Beat({.tick_id = 8, .monotonic_ns = 123456790});
  EXPECT_EQ(*daemon_.ReadHeartbeat(), (Heartbeat{8, 123456790}));
  EXPECT_EQ(LoadShared<uint64_t>(raw_.data() + 64), 4u);
  EXPECT_EQ(LoadShared<uint64_t>(raw_.data() + 72), 8u);
  EXPECT_EQ(LoadShared<uint64_t>(raw_.data() + 80), 123456790u);
}

TEST_F(ControlTest, AHeartbeatLeftHalfWrittenIsUnavailable) {
  worker_.Beat({.tick_id = 7, .monotonic_ns = 1});
  StoreShared<uint64_t>(raw_.data() + 64, 3);
  EXPECT_EQ(daemon_.ReadHeartbeat().status().code(), absl::StatusCode::kUnavailable);
  // The worker counts for itself, so its next one mends it.
  worker_.Beat({.tick_id = 8, .monotonic_ns = 2});
  EXPECT_EQ(*daemon_.ReadHeartbeat(), (Heartbeat{8, 2}));
}

TEST_F(ControlTest, HeartbeatIsNotTornByABeatInTheMiddleOfARead) {
  uint64_t beats = 0;
  absl::StatusOr<Heartbeat> heartbeat = Heartbeat{};
  InterruptAtEveryInstruction([&] { heartbeat = daemon_.ReadHeartbeat(); },
                              [&] {
                                ++beats;
                                worker_.Beat({.tick_id = beats, .monotonic_ns = beats * 3});
                              },
                              [&] {
                                ASSERT_TRUE(heartbeat.ok()) << heartbeat.status();
                                ASSERT_EQ(heartbeat->monotonic_ns, heartbeat->tick_id * 3);
                              });
}

TEST_F(ControlTest, HeartbeatIsNotTornByAReadInTheMiddleOfABeat) {
  uint64_t beats = 0;
  bool torn = false;
  InterruptAtEveryInstruction(
      [&] {
        ++beats;
        worker_.Beat({.tick_id = beats, .monotonic_ns = beats * 3});
      },
      [&] {
        // In the middle of a beat there is nothing to be had, which is fine.
        const absl::StatusOr<Heartbeat> heartbeat = daemon_.ReadHeartbeat();
        torn = torn || (heartbeat.ok() && heartbeat->monotonic_ns != heartbeat->tick_id * 3);
      },
      [&] { ASSERT_FALSE(torn); });
}

TEST_F(ControlTest, HeartbeatsFromAnotherThreadOnlyGrow) {
  constexpr uint64_t beats = 200000;
  std::thread beating([this] {
    for (uint64_t i = 1; i <= beats; ++i) worker_.Beat({.tick_id = i, .monotonic_ns = i * 3});
  });
  for (uint64_t last = 0; last < beats;) {
    const absl::StatusOr<Heartbeat> heartbeat = daemon_.ReadHeartbeat();
    if (!heartbeat.ok()) continue;
    ASSERT_EQ(heartbeat->monotonic_ns, heartbeat->tick_id * 3);
    ASSERT_GE(heartbeat->tick_id, last);
    last = heartbeat->tick_id;
  }
  beating.join();
}

TEST_F(ControlTest, StopsOneLaneAndNoOther) {
  for (const uint32_t lane : {0u, 63u, 64u, 255u}) {
    ASSERT_TRUE(daemon_.SetLaneStop(lane, true).ok());
    for (uint32_t other = 0; other < kControlLanes; ++other) {
      EXPECT_EQ(worker_.LaneStopped(other), other == lane) << lane << " " << other;
    }
    ASSERT_TRUE(daemon_.SetLaneStop(lane, false).ok());
    EXPECT_FALSE(worker_.LaneStopped(lane));
  }
}

TEST_F(ControlTest, LaneBitsAreWhereTheLayoutSays) {
  ASSERT_TRUE(daemon_.SetLaneStop(0, true).ok());
  ASSERT_TRUE(daemon_.SetLaneStop(255, true).ok());
  EXPECT_EQ(raw_.data()[128], std::byte{0x01});
  EXPECT_EQ(raw_.data()[159], std::byte{0x80});
}

TEST_F(ControlTest, StopsOfLanesThatShareAWordDoNotUndoEachOther) {
  for (const bool stop : {true, false}) {
    bool other = false;
    InterruptAtEveryInstruction([&] { static_cast<void>(daemon_.SetLaneStop(0, stop)); },
                                [&] {
                                  other = !other;
                                  static_cast<void>(daemon_.SetLaneStop(1, other));
                                },
                                [&] {
                                  ASSERT_EQ(worker_.LaneStopped(0), stop);
                                  ASSERT_EQ(worker_.LaneStopped(1), other);
                                });
  }
}

TEST_F(ControlTest, RefusesLanesAndSlotsThatDoNotExist) {
  EXPECT_EQ(daemon_.SetLaneStop(256, true).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(daemon_.SetLaneStop(~0u, true).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(daemon_.StopTranscription(1024, 1).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(daemon_.StopTranscription(~0u, 1).code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(worker_.LaneStopped(256));
  EXPECT_FALSE(worker_.LaneStopped(~0u));
  EXPECT_FALSE(worker_.TranscriptionStopped(1024, 1));
  EXPECT_FALSE(worker_.TranscriptionStopped(~0u, 1));
}

TEST_F(ControlTest, StopsTheNamedTranscription) {
  ASSERT_TRUE(daemon_.StopTranscription(1023, 55).ok());
  EXPECT_TRUE(worker_.TranscriptionStopped(1023, 55));
  EXPECT_FALSE(worker_.TranscriptionStopped(1022, 55));
  EXPECT_EQ(LoadShared<uint64_t>(raw_.data() + 192 + size_t{1023} * 8), 55u);
  ASSERT_TRUE(daemon_.StopTranscription(1023, 0).ok());
  EXPECT_FALSE(worker_.TranscriptionStopped(1023, 55));
}

TEST_F(ControlTest, ALateStopDoesNotHitTheSlotsNextUser) {
  ASSERT_TRUE(daemon_.StopTranscription(3, 55).ok());
  EXPECT_FALSE(worker_.TranscriptionStopped(3, 56));
  EXPECT_FALSE(worker_.TranscriptionStopped(4, 0));  // nobody is request 0, although the word is 0
}

TEST_F(ControlTest, AttachChecksTheHeader) {
  for (const size_t at : {0u, 4u, 8u, 16u, 20u}) {
    const std::byte good = raw_.data()[at];
    raw_.data()[at] = good ^ std::byte{0x40};
    EXPECT_EQ(WorkerControl::Attach(*daemon_.DuplicateFd(), kControlBytes).status().code(),
              absl::StatusCode::kInvalidArgument)
        << at;
    raw_.data()[at] = good;
  }
  EXPECT_TRUE(WorkerControl::Attach(*daemon_.DuplicateFd(), kControlBytes).ok());
}

TEST_F(ControlTest, AttachChecksTheBytes) {
  for (const uint64_t bytes : {uint64_t{0}, kControlBytes - 1, kControlBytes + 1, ~uint64_t{0}}) {
    EXPECT_EQ(WorkerControl::Attach(*daemon_.DuplicateFd(), bytes).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bytes;
  }
}

TEST_F(ControlTest, AttachRefusesWhatIsUnsealedOrHuge) {
  EXPECT_EQ(WorkerControl::Attach(MakeMemfd(kControlBytes, 0), kControlBytes).status().code(),
            absl::StatusCode::kInvalidArgument);
  absl::StatusOr<Segment> huge = Segment::Create((uint64_t{2} << 20) + 1, "huge");
  ASSERT_TRUE(huge.ok());
  std::memcpy(huge->data(), raw_.data(), 64);
  EXPECT_EQ(WorkerControl::Attach(*huge->DuplicateFd(), kControlBytes).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ControlTest, AHeaderRewrittenLaterChangesNothing) {
  std::memset(raw_.data(), 0xFF, 64);
  ASSERT_TRUE(daemon_.SetLaneStop(9, true).ok());
  EXPECT_TRUE(worker_.LaneStopped(9));
  EXPECT_FALSE(worker_.LaneStopped(256));
}

}  // namespace
}  // namespace superfluid
