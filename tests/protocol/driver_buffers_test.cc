#include "protocol/driver/driver_buffers.h"

#include <sys/mman.h>

#include <cstring>
#include <future>

#include "gtest/gtest.h"
#include "shm/socket_fd_channel.h"
#include "tests/protocol/driver_fixture.h"

namespace superfluid::linkw {
namespace {

constexpr uint64_t kFirstId = uint64_t{1} << 32;

class DriverBuffersTest : public DriverTest {
 protected:
  void Open(absl::Duration timeout = absl::Seconds(30)) {
    Connect();
    auto buffers = DriverBuffers::Open(*client_, timeout);
    ASSERT_TRUE(buffers.ok()) << buffers.status();
    buffers_ = *std::move(buffers);
  }

  void TearDown() override {
    buffers_.reset();
    client_.reset();
  }

  std::future<absl::StatusOr<DriverBuffer>> StartAllocate(uint64_t bytes) {
    return std::async(std::launch::async, [this, bytes] { return buffers_->Allocate(bytes); });
  }

  void SendFd(uint64_t tag, int fd) {
    EXPECT_EQ(*SendTaggedFd(worker_fds_.get(), tag, fd), IoState::kOk);
  }

  std::unique_ptr<DriverBuffers> buffers_;
};

TEST_F(DriverBuffersTest, MapsWhatTheWorkerMade) {
  Open();
  for (const bool fd_first : {true, false}) {
    auto allocated = StartAllocate(5000);
    uint64_t seq = 0;
    const auto alloc = worker_->Expect<BufAlloc>(&seq);
    EXPECT_GE(static_cast<uint64_t>(alloc.buf_id), kFirstId) << "rings have their tags too";
    EXPECT_EQ(alloc.len, 5000u);
    const Segment segment = *Segment::Create(5000, "test");
    std::memcpy(segment.data(), "hello", 5);
    const OwnedFd fd = *segment.DuplicateFd();
    if (fd_first) SendFd(static_cast<uint64_t>(alloc.buf_id), fd.get());
    worker_->Send(seq, BufAlloced{Status::kOk, "", alloc.buf_id, 5000});
    if (!fd_first) SendFd(static_cast<uint64_t>(alloc.buf_id), fd.get());
    auto buffer = allocated.get();
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_EQ(buffer->id(), alloc.buf_id);
    ASSERT_EQ(buffer->bytes().size(), 5000u);
    EXPECT_EQ(std::memcmp(buffer->bytes().data(), "hello", 5), 0);
    buffer->bytes()[0] = std::byte{'j'};
    EXPECT_EQ(segment.data()[0], std::byte{'j'}) << "it is the same memory";
    buffer->Release();
    EXPECT_EQ(worker_->Expect<BufRelease>().buf_id, alloc.buf_id);
  }
}

TEST_F(DriverBuffersTest, GivesTheReasonWhyTheWorkerMadeNone) {
  Open();
  auto allocated = StartAllocate(1);
  uint64_t seq = 0;
  const auto alloc = worker_->Expect<BufAlloc>(&seq);
  worker_->Send(seq, BufAlloced{Status::kOutOfMemory, "too many", alloc.buf_id, 1});
  ExpectError(allocated.get().status(), Status::kOutOfMemory, "too many");
  allocated = StartAllocate(1);
  worker_->Expect<BufAlloc>(&seq);
  worker_->Send(seq, Error{Status::kDraining, "drains", "", false});
  ExpectError(allocated.get().status(), Status::kDraining, "drains");
}

TEST_F(DriverBuffersTest, ADescriptorThatDoesNotComeTimesOutAndIsReleased) {
  Open(absl::Milliseconds(20));
  auto allocated = StartAllocate(1);
  uint64_t seq = 0;
  const auto alloc = worker_->Expect<BufAlloc>(&seq);
  worker_->Send(seq, BufAlloced{Status::kOk, "", alloc.buf_id, 1});
  EXPECT_TRUE(absl::IsDeadlineExceeded(allocated.get().status()));
  // Whether or not its answer was there in time.
  if (const auto received = worker_->Read(); std::holds_alternative<BufRelease>(received.message)) {
    EXPECT_EQ(std::get<BufRelease>(received.message).buf_id, alloc.buf_id);
  }
}

TEST_F(DriverBuffersTest, AFdsConnectionThatEndsIsSaid) {
  Open();
  auto allocated = StartAllocate(1);
  uint64_t seq = 0;
  const auto alloc = worker_->Expect<BufAlloc>(&seq);
  worker_fds_.Reset();
  worker_->Send(seq, BufAlloced{Status::kOk, "", alloc.buf_id, 1});
  ExpectError(allocated.get().status(), Status::kLinkClosed, "fds connection");
}

TEST_F(DriverBuffersTest, MemoryThatTheWorkerCouldShrinkIsRefused) {
  Open();
  auto allocated = StartAllocate(4096);
  uint64_t seq = 0;
  const auto alloc = worker_->Expect<BufAlloc>(&seq);
  const OwnedFd fd(memfd_create("test", MFD_CLOEXEC));
  SendFd(static_cast<uint64_t>(alloc.buf_id), fd.get());
  worker_->Send(seq, BufAlloced{Status::kOk, "", alloc.buf_id, 4096});
  ExpectError(allocated.get().status(), Status::kInvalidArgument, "sealed");
  EXPECT_EQ(worker_->Expect<BufRelease>().buf_id, alloc.buf_id);
}

TEST_F(DriverBuffersTest, ABufferOfNoBytesIsRefused) {
  Open();
  EXPECT_TRUE(absl::IsInvalidArgument(buffers_->Allocate(0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(buffers_->Attach(0).status()));
}

TEST_F(DriverBuffersTest, AttachesMemoryOfOurs) {
  Open();
  auto buffer = buffers_->Attach(100);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  std::memcpy(buffer->bytes().data(), "hello", 5);
  const auto attach = worker_->Expect<BufAttach>();
  EXPECT_EQ(attach, (BufAttach{buffer->id(), 100}));
  const Segment seen = TakeSegment(static_cast<uint64_t>(attach.buf_id), 100);
  EXPECT_EQ(std::memcmp(seen.data(), "hello", 5), 0);
  EXPECT_TRUE(buffer->refusal().ok());
}

TEST_F(DriverBuffersTest, KnowsWhyTheWorkerDidNotTakeIt) {
  Open();
  auto buffer = buffers_->Attach(100);
  uint64_t seq = 0;
  worker_->Expect<BufAttach>(&seq);
  worker_->Send(seq, Error{Status::kOutOfMemory, "too many buffers", "", false});
  ExpectPingWorks();  // the answer was read by now
  ExpectError(buffer->refusal(), Status::kOutOfMemory, "too many buffers");
}

TEST_F(DriverBuffersTest, IsReleasedExactlyOnce) {
  Open();
  auto first = buffers_->Attach(100);
  auto second = buffers_->Attach(100);
  worker_->Expect<BufAttach>();
  worker_->Expect<BufAttach>();
  const BufId first_id = first->id();
  const BufId second_id = second->id();
  EXPECT_NE(first_id, second_id);
  {
    DriverBuffer moved = *std::move(first);
    moved = *std::move(second);  // lets go of the first
    EXPECT_EQ(worker_->Expect<BufRelease>().buf_id, first_id);
    moved.Release();
    EXPECT_EQ(moved.bytes().size(), 0u);
    EXPECT_EQ(worker_->Expect<BufRelease>().buf_id, second_id);
  }
  ExpectPingWorks();  // nothing else was sent
}

TEST_F(DriverBuffersTest, NeedsAnFdsConnection) {
  auto [ours, theirs] = MakeSocketPair();
  worker_.emplace(std::move(theirs));
  auto client = std::async(std::launch::async,
                           [fd = ours.Release()] { return LinkClient::Adopt(fd, -1, {}); });
  uint64_t seq = 0;
  worker_->Expect<Hello>(&seq);
  worker_->Send(seq, SampleHelloAck());
  const auto connected = client.get();
  ExpectError(DriverBuffers::Open(**connected, absl::Seconds(1)).status(),
              Status::kFailedPrecondition, "no fds connection");
}

// ---- Descriptors that nobody asked for yet

TEST(FdInboxTest, FindsThemByTagAndKeepsTheNewest) {
  auto [ours, theirs] = MakeSocketPair();
  auto channel = *MakeSocketFdChannel(std::move(ours));
  FdInbox inbox(*channel);
  const OwnedFd fd(memfd_create("test", MFD_CLOEXEC));
  const uint64_t last = FdInbox::kCapacity + 4;
  for (uint64_t tag = 1; tag <= last; ++tag) {
    while (*SendTaggedFd(theirs.get(), tag, fd.get()) == IoState::kWouldBlock) {
    }
  }
  EXPECT_TRUE(inbox.Take(last, absl::InfiniteFuture()).ok());
  EXPECT_TRUE(inbox.Take(5, absl::InfiniteFuture()).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(inbox.Take(5, absl::InfinitePast()).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(inbox.Take(4, absl::InfinitePast()).status()));
  theirs.Reset();
  ExpectError(inbox.Take(4, absl::InfiniteFuture()).status(), Status::kLinkClosed,
              "fds connection");
  EXPECT_TRUE(inbox.Take(6, absl::InfinitePast()).ok()) << "what came before is still there";
}

}  // namespace
}  // namespace superfluid::linkw
