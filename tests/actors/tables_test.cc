// The small tables that a dispatcher and its helpers keep.

#include <fcntl.h>
#include <unistd.h>

#include "actors/dispatch/deadlines.h"
#include "actors/dispatch/descriptor_table.h"
#include "actors/link/admission.h"
#include "actors/state_ops/buffer_table.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

using linkw::MessageType;

constexpr int64_t kSecond = 1'000'000'000;

OwnedFd SomeFd() { return OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(DescriptorTableTest, DescriptorsAreClaimedByTagInOrderOfArrival) {
  DescriptorTable table(absl::Seconds(5));
  OwnedFd first = SomeFd();
  const int first_number = first.get();
  table.Add(7, std::move(first), 0);
  table.Add(7, SomeFd(), 0);
  EXPECT_FALSE(table.Claim(8).has_value());
  EXPECT_EQ(table.Claim(7)->get(), first_number);
  EXPECT_TRUE(table.Claim(7).has_value());
  EXPECT_FALSE(table.Claim(7).has_value());
}

TEST(DescriptorTableTest, WhatIsNotClaimedInTimeIsClosed) {
  DescriptorTable table(absl::Seconds(5));
  OwnedFd fd = SomeFd();
  const int number = fd.get();
  table.Add(1, std::move(fd), 0);
  table.Add(2, SomeFd(), 3 * kSecond);
  EXPECT_EQ(table.DropOverdue(5 * kSecond - 1), 0u);
  EXPECT_EQ(table.DropOverdue(5 * kSecond), 1u);
  EXPECT_FALSE(IsOpen(number));
  EXPECT_EQ(table.size(), 1u);
}

TEST(DescriptorTableTest, RoomIsMadeByTheOldestThatNobodyNames) {
  DescriptorTable table(absl::Seconds(5));
  for (const uint64_t tag : {1, 2, 2, 3}) table.Add(tag, SomeFd(), 0);
  EXPECT_TRUE(table.DropOldestBut({1, 2}));  // the second one with tag 2
  EXPECT_EQ(table.size(), 3u);
  EXPECT_TRUE(table.Claim(2).has_value());
  EXPECT_FALSE(table.Claim(2).has_value());
  EXPECT_FALSE(table.DropOldestBut({1, 3, 4}));
  EXPECT_TRUE(table.DropOldestBut({3}));
  EXPECT_FALSE(table.Claim(1).has_value());
  EXPECT_TRUE(table.Claim(3).has_value());
}

TEST(BufferTableTest, AReleasedBufferStaysMappedWhileItIsUsed) {
  BufferTable table(BufferLimits{.max_buffers = 10, .max_bytes = 8192});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(4096, "a")).ok());
  std::shared_ptr<const Segment> in_use = *table.Use(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  EXPECT_EQ(linkw::FromAbsl(table.Use(linkw::BufId(1)).status()), linkw::Status::kUnknownHandle);
  EXPECT_EQ(table.BytesInUse(), 4096u);
  in_use->data()[0] = std::byte{1};  // still there
  in_use.reset();
  EXPECT_EQ(table.BytesInUse(), 0u);
}

TEST(BufferTableTest, LimitsCountReleasedBuffersThatAreInUse) {
  BufferTable table(BufferLimits{.max_buffers = 10, .max_bytes = 8192});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(8192, "a")).ok());
  const std::shared_ptr<const Segment> in_use = *table.Use(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  EXPECT_TRUE(absl::IsResourceExhausted(table.CheckRoom(1)));
  EXPECT_TRUE(absl::IsResourceExhausted(table.Insert(linkw::BufId(2), *Segment::Create(1, "b"))));
}

TEST(BufferTableTest, CopiesAndBuffersShareOneLimit) {
  BufferTable table(BufferLimits{.max_buffers = 10, .max_bytes = 8192});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(4096, "a")).ok());
  ASSERT_TRUE(table.TakeCopy(4096).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(table.TakeCopy(1)));
  EXPECT_TRUE(absl::IsResourceExhausted(table.CheckRoom(1)));
  table.DropCopy(4096);
  EXPECT_TRUE(table.CheckRoom(4096).ok());
}

TEST(BufferTableTest, TheNumberOfBuffersIsBounded) {
  BufferTable table(BufferLimits{.max_buffers = 2});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "a")).ok());
  ASSERT_TRUE(table.Insert(linkw::BufId(2), *Segment::Create(1, "b")).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(table.CheckRoom(0)));
}

TEST(BufferTableTest, AnIdIsUsedOnce) {
  BufferTable table(BufferLimits{});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "a")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(table.Insert(linkw::BufId(1), *Segment::Create(1, "b"))));
}

TEST(BufferTableTest, AReleaseOfAnEarlierBufferLeavesTheIdsNextOne) {
  BufferTable table(BufferLimits{});
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "a")).ok());
  const std::shared_ptr<const Segment> first = *table.Use(linkw::BufId(1));
  table.Release(linkw::BufId(1));
  ASSERT_TRUE(table.Insert(linkw::BufId(1), *Segment::Create(1, "b")).ok());
  table.Release(linkw::BufId(1), first);
  EXPECT_TRUE(table.Contains(linkw::BufId(1)));
  table.Release(linkw::BufId(1), *table.Use(linkw::BufId(1)));
  EXPECT_FALSE(table.Contains(linkw::BufId(1)));
}

TEST(DeadlinesTest, PassedDeadlinesAreTakenOnce) {
  Deadlines deadlines;
  deadlines.Add(1, 300);
  deadlines.Add(2, 100);
  deadlines.Add(3, 200);
  deadlines.Remove(3);
  EXPECT_EQ(deadlines.TakePassed(99), std::vector<uint64_t>{});
  EXPECT_EQ(deadlines.TakePassed(250), std::vector<uint64_t>{2});
  EXPECT_EQ(deadlines.TakePassed(1000), std::vector<uint64_t>{1});
  EXPECT_EQ(deadlines.TakePassed(1000), std::vector<uint64_t>{});
}

TEST(DeadlinesTest, OneTimerServesManyRequests) {
  Deadlines deadlines;
  deadlines.Add(1, 100);
  EXPECT_EQ(deadlines.NextTimer(), 100);
  deadlines.Add(2, 200);
  EXPECT_EQ(deadlines.NextTimer(), std::nullopt) << "the timer is set for an earlier time";
  deadlines.Add(3, 50);
  EXPECT_EQ(deadlines.NextTimer(), 50);
  deadlines.TimerFired();
  EXPECT_EQ(deadlines.TakePassed(50), std::vector<uint64_t>{3});
  EXPECT_EQ(deadlines.NextTimer(), 100);
}

TEST(AdmissionTest, OnlyHelloComesFirst) {
  const auto role = linkw::Role::kDriver;
  EXPECT_TRUE(Admit(LinkPhase::kAwaitingHello, role, MessageType::kHello).ok());
  EXPECT_TRUE(linkw::IsLinkError(Admit(LinkPhase::kAwaitingHello, role, MessageType::kPing)));
  EXPECT_TRUE(linkw::IsLinkError(Admit(LinkPhase::kOpen, role, MessageType::kHello)));
}

TEST(AdmissionTest, ADrainingLinkTakesNoNewWorkButEndsTheOld) {
  const auto role = linkw::Role::kDriver;
  const absl::Status refused = Admit(LinkPhase::kDraining, role, MessageType::kStateSyncRequest);
  EXPECT_EQ(linkw::FromAbsl(refused), linkw::Status::kDraining);
  EXPECT_FALSE(linkw::IsLinkError(refused));
  for (const MessageType type :
       {MessageType::kPing, MessageType::kTranscribeCancel, MessageType::kTranscribeAudio,
        MessageType::kBufRelease, MessageType::kSeedRelease, MessageType::kOpCancel}) {
    EXPECT_TRUE(Admit(LinkPhase::kDraining, role, type).ok()) << linkw::MessageTypeName(type);
  }
}

TEST(AdmissionTest, ObserversOnlyLook) {
  const auto role = linkw::Role::kObserver;
  EXPECT_TRUE(Admit(LinkPhase::kOpen, role, MessageType::kPing).ok());
  EXPECT_TRUE(Admit(LinkPhase::kOpen, role, MessageType::kTelemetry).ok());
  for (const MessageType type :
       {MessageType::kTickSubmit, MessageType::kBufAlloc, MessageType::kTranscribeCancel}) {
    EXPECT_EQ(linkw::FromAbsl(Admit(LinkPhase::kOpen, role, type)),
              linkw::Status::kPermissionDenied)
        << linkw::MessageTypeName(type);
  }
}

TEST(AdmissionTest, PingsAndCancelsOvertakeAndReleasesDoNot) {
  EXPECT_TRUE(Overtakes(MessageType::kPing));
  EXPECT_TRUE(Overtakes(MessageType::kTranscribeCancel));
  EXPECT_TRUE(Overtakes(MessageType::kOpCancel));
  EXPECT_FALSE(Overtakes(MessageType::kBufRelease));
  EXPECT_FALSE(Overtakes(MessageType::kStateSyncRequest));
}

}  // namespace
}  // namespace superfluid
