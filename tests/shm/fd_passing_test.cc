#include "shm/fd_passing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::CountOpenFds;
using ::superfluid::testing::HasCloseOnExec;
using ::superfluid::testing::MakeMemfd;
using ::superfluid::testing::MakeSocketPair;
using ::superfluid::testing::NoMoreFds;
using ::superfluid::testing::SameFile;

constexpr int kSoPasspidfd = 76;  // SO_PASSPIDFD, newer than the distribution's headers

class FdPassingTest : public ::testing::Test {
 protected:
  // Runs before the members go, so the sockets themselves are counted both times.
  void TearDown() override { EXPECT_EQ(CountOpenFds(), fds_before_) << "descriptors leaked"; }
  void SetUp() override { fds_before_ = CountOpenFds(); }

  // What a peer with its own ideas sends: `bytes` with `fd` attached `copies` times.
  void SendRaw(std::string bytes, int fd, size_t copies) {
    std::vector<int> fds(copies, fd);
    std::vector<unsigned char> control(CMSG_SPACE(sizeof(int) * copies));
    iovec data = {bytes.data(), bytes.size()};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (copies > 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int) * copies);
      std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * copies);
    }
    ASSERT_EQ(sendmsg(ours_.get(), &message, 0), static_cast<ssize_t>(bytes.size()));
  }

  void ExpectItem(uint64_t tag, int same_file_as) {
    absl::StatusOr<FdReceiveResult> result = receiver_.Receive();
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->state, IoState::kOk);
    ASSERT_TRUE(result->item.has_value());
    EXPECT_EQ(result->item->tag, tag);
    EXPECT_TRUE(SameFile(result->item->fd.get(), same_file_as));
    EXPECT_TRUE(HasCloseOnExec(result->item->fd.get()));
  }

  void ExpectState(IoState state) {
    absl::StatusOr<FdReceiveResult> result = receiver_.Receive();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->state, state);
    EXPECT_FALSE(result->item.has_value());
  }

  // The error comes, and comes again although a good message follows.
  void ExpectBroken(absl::StatusCode code) {
    EXPECT_EQ(receiver_.Receive().status().code(), code);
    const OwnedFd fd = MakeMemfd(1, 0);
    static_cast<void>(SendTaggedFd(ours_.get(), 1, fd.get()));
    EXPECT_EQ(receiver_.Receive().status().code(), code);
  }

  std::pair<OwnedFd, OwnedFd> sockets_ = MakeSocketPair();
  OwnedFd& ours_ = sockets_.first;
  OwnedFd& theirs_ = sockets_.second;
  TaggedFdReceiver receiver_{theirs_.get()};
  size_t fds_before_ = 0;
};

TEST_F(FdPassingTest, PassesADescriptorWithItsTag) {
  const OwnedFd fd = MakeMemfd(100, 0);
  const absl::StatusOr<IoState> sent = SendTaggedFd(ours_.get(), 0x0123456789ABCDEF, fd.get());
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(*sent, IoState::kOk);
  ExpectItem(0x0123456789ABCDEF, fd.get());
  ExpectState(IoState::kWouldBlock);
}

TEST_F(FdPassingTest, TagIsLittleEndianOnTheWire) {
  const OwnedFd fd = MakeMemfd(1, 0);
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 0x0102, fd.get()).ok());
  char bytes[16];
  ASSERT_EQ(recv(theirs_.get(), bytes, sizeof(bytes), 0), 8);
  EXPECT_EQ(std::string(bytes, 8), std::string("\2\1\0\0\0\0\0\0", 8));
}

TEST_F(FdPassingTest, KeepsMessagesApartThatWaitTogether) {
  const OwnedFd a = MakeMemfd(1, 0);
  const OwnedFd b = MakeMemfd(1, 0);
  const OwnedFd c = MakeMemfd(1, 0);
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 1, a.get()).ok());
  ASSERT_TRUE(SendTaggedFd(ours_.get(), kControlTag, b.get()).ok());
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 3, c.get()).ok());
  ExpectItem(1, a.get());
  ExpectItem(kControlTag, b.get());
  ExpectItem(3, c.get());
  ExpectState(IoState::kWouldBlock);
}

TEST_F(FdPassingTest, OrderlyCloseComesAfterWhatWasSent) {
  const OwnedFd fd = MakeMemfd(1, 0);
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 1, fd.get()).ok());
  shutdown(ours_.get(), SHUT_WR);
  ExpectItem(1, fd.get());
  ExpectState(IoState::kClosed);
  ExpectState(IoState::kClosed);
}

TEST_F(FdPassingTest, PutsATagTogetherThatComesByteByByte) {
  const OwnedFd fd = MakeMemfd(1, 0);
  const std::string tag("\x11\x22\x33\x44\x55\x66\x77\x00", 8);
  SendRaw(tag.substr(0, 1), fd.get(), 1);
  ExpectState(IoState::kWouldBlock);
  for (size_t i = 1; i < 7; ++i) {
    SendRaw(tag.substr(i, 1), -1, 0);
    ExpectState(IoState::kWouldBlock);
  }
  SendRaw(tag.substr(7, 1), -1, 0);
  ExpectItem(0x0077665544332211, fd.get());
  // The next message starts from scratch.
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 5, fd.get()).ok());
  ExpectItem(5, fd.get());
}

TEST_F(FdPassingTest, RefusesAMessageWithoutADescriptor) {
  SendRaw("12345678", -1, 0);
  ExpectBroken(absl::StatusCode::kInvalidArgument);
}

TEST_F(FdPassingTest, RefusesADescriptorThatComesAfterTheFirstByte) {
  const OwnedFd fd = MakeMemfd(1, 0);
  SendRaw("123", -1, 0);
  ExpectBroken(absl::StatusCode::kInvalidArgument);
}

TEST_F(FdPassingTest, RefusesASecondDescriptorLaterInTheMessage) {
  const OwnedFd fd = MakeMemfd(1, 0);
  SendRaw("123", fd.get(), 1);
  SendRaw("45678", fd.get(), 1);
  ExpectBroken(absl::StatusCode::kInvalidArgument);
}

TEST_F(FdPassingTest, ClosesTwoDescriptorsInOneMessage) {
  const OwnedFd fd = MakeMemfd(1, 0);
  SendRaw("12345678", fd.get(), 2);
  ExpectBroken(absl::StatusCode::kInvalidArgument);
}

TEST_F(FdPassingTest, ClosesAsManyDescriptorsAsItCanSee) {
  const OwnedFd fd = MakeMemfd(1, 0);
  SendRaw("12345678", fd.get(), 8);
  ExpectBroken(absl::StatusCode::kInvalidArgument);
}

TEST_F(FdPassingTest, RefusesMoreDescriptorsThanItCanSee) {
  for (const size_t copies : {size_t{64}, size_t{253}}) {
    auto [ours, theirs] = MakeSocketPair();
    TaggedFdReceiver receiver(theirs.get());
    const OwnedFd fd = MakeMemfd(1, 0);
    std::swap(ours, ours_);
    SendRaw("12345678", fd.get(), copies);
    EXPECT_EQ(receiver.Receive().status().code(), absl::StatusCode::kResourceExhausted);
    std::swap(ours, ours_);
  }
}

TEST_F(FdPassingTest, ReportsThatThisProcessHasNoDescriptorLeft) {
  const OwnedFd fd = MakeMemfd(1, 0);
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 1, fd.get()).ok());
  const NoMoreFds limit;
  EXPECT_EQ(receiver_.Receive().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(FdPassingTest, ReportsACloseInsideAMessage) {
  const OwnedFd fd = MakeMemfd(1, 0);
  SendRaw("123", fd.get(), 1);
  ExpectState(IoState::kWouldBlock);
  shutdown(ours_.get(), SHUT_WR);
  EXPECT_EQ(receiver_.Receive().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(receiver_.Receive().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(FdPassingTest, StrayBytesBetweenMessagesLeakNothing) {
  const OwnedFd fd = MakeMemfd(1, 0);
  for (int i = 0; i < 100; ++i) {
    auto [ours, theirs] = MakeSocketPair();
    TaggedFdReceiver receiver(theirs.get());
    std::swap(ours, ours_);
    SendRaw(std::string(static_cast<size_t>(i % 13) + 1, 'x'), fd.get(), i % 3 == 0 ? 0 : 1);
    SendRaw("12345678", fd.get(), 1);
    std::swap(ours, ours_);
    for (int tries = 0; tries < 4; ++tries) static_cast<void>(receiver.Receive());
  }
}

TEST_F(FdPassingTest, SurvivesCredentialsOfAnInheritedSocket) {
  const int on = 1;
  ASSERT_EQ(setsockopt(theirs_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
  // Older kernels do not know it; then there is only the other one to survive.
  setsockopt(theirs_.get(), SOL_SOCKET, kSoPasspidfd, &on, sizeof(on));
  const OwnedFd fd = MakeMemfd(1, 0);
  ASSERT_TRUE(SendTaggedFd(ours_.get(), 9, fd.get()).ok());
  ExpectItem(9, fd.get());
}

TEST_F(FdPassingTest, SendReportsAFullSocketAndGoesOnLater) {
  const int bytes = 1;  // the kernel makes it the least that it allows
  ASSERT_EQ(setsockopt(ours_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)), 0);
  const OwnedFd fd = MakeMemfd(1, 0);
  uint64_t sent = 0;
  absl::StatusOr<IoState> state = IoState::kOk;
  while (sent < 1000) {
    state = SendTaggedFd(ours_.get(), sent, fd.get());
    ASSERT_TRUE(state.ok()) << state.status();
    if (*state != IoState::kOk) break;
    ++sent;
  }
  EXPECT_EQ(*state, IoState::kWouldBlock);
  for (uint64_t tag = 0; tag < sent; ++tag) ExpectItem(tag, fd.get());
  state = SendTaggedFd(ours_.get(), sent, fd.get());
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(*state, IoState::kOk);
  ExpectItem(sent, fd.get());
}

TEST_F(FdPassingTest, SendReportsAPeerThatIsGone) {
  const OwnedFd fd = MakeMemfd(1, 0);
  shutdown(theirs_.get(), SHUT_RDWR);
  const absl::StatusOr<IoState> state = SendTaggedFd(ours_.get(), 1, fd.get());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(*state, IoState::kClosed);
}

TEST_F(FdPassingTest, SendRefusesADescriptorThatIsNotOpen) {
  for (const int bad : {-1, 1 << 20}) {
    EXPECT_EQ(SendTaggedFd(ours_.get(), 1, bad).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(FdPassingTest, ReceiveReportsWhatIsNotASocket) {
  const OwnedFd fd = MakeMemfd(1, 0);
  TaggedFdReceiver receiver(fd.get());
  EXPECT_EQ(receiver.Receive().status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace superfluid
