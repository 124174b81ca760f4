#include "protocol/transport/unix_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "protocol/transport/unix_connect.h"
#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::AwaitBlocked;
using ::superfluid::testing::CountOpenFds;
using ::superfluid::testing::HasCloseOnExec;
using ::superfluid::testing::NoMoreFds;
using ::superfluid::testing::ThisThread;

constexpr absl::Duration kTimeout = absl::Seconds(10);

// Makes a folder one that this thread may not use while it lives, even if it runs as root.
class ForbiddenFolder {
 public:
  explicit ForbiddenFolder(std::string path) : path_(std::move(path)) {
    EXPECT_EQ(chmod(path_.c_str(), 0), 0);
    EXPECT_EQ(syscall(SYS_capget, &header_, old_capabilities_), 0);
    __user_cap_data_struct fewer[] = {old_capabilities_[0], old_capabilities_[1]};
    fewer[0].effective &= ~((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(syscall(SYS_capset, &header_, fewer), 0);
  }
  ~ForbiddenFolder() {
    EXPECT_EQ(syscall(SYS_capset, &header_, old_capabilities_), 0);
    EXPECT_EQ(chmod(path_.c_str(), 0700), 0);
  }
  ForbiddenFolder(const ForbiddenFolder&) = delete;
  ForbiddenFolder& operator=(const ForbiddenFolder&) = delete;

 private:
  const std::string path_;
  __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct old_capabilities_[2] = {};
};

// A folder of its own for each test: short, so that paths of every length fit.
class UnixSocketTest : public ::testing::Test {
 protected:
  UnixSocketTest() {
    char name[] = "/tmp/sflXXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/w.sock";
  }
  void TearDown() override {
    EXPECT_EQ(CountOpenFds(), fds_before_) << "descriptors leaked";
    const std::string command = "rm -rf " + folder_;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  static std::unique_ptr<UnixListener> MustListen(const std::string& path) {
    absl::StatusOr<std::unique_ptr<UnixListener>> listener = UnixListener::Listen(path);
    EXPECT_TRUE(listener.ok()) << listener.status();
    return *std::move(listener);
  }

  static absl::StatusCode CodeOfListen(std::string_view path) {
    return UnixListener::Listen(path).status().code();
  }

  static absl::Status ConnectStatus(std::string_view path, absl::Duration timeout = kTimeout) {
    return ConnectUnix(path, timeout).status();
  }

  static bool Exists(const std::string& path) {
    struct stat file = {};
    return lstat(path.c_str(), &file) == 0;
  }

  // A socket bound to `path` by hand, listening if backlog >= 0.
  static OwnedFd BindRaw(const std::string& path, int type, int backlog) {
    OwnedFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    if (backlog >= 0) {
      EXPECT_EQ(listen(fd.get(), backlog), 0);
    }
    return fd;
  }

  // What a worker leaves that was killed.
  static void LeaveStaleSocket(const std::string& path) { BindRaw(path, SOCK_STREAM, 1); }

  static void MakeFile(const std::string& path) {
    const OwnedFd file(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    ASSERT_TRUE(file.valid());
  }

  const size_t fds_before_ = CountOpenFds();
  std::string folder_;
  std::string path_;
};

using UnixListenerTest = UnixSocketTest;
using UnixConnectTest = UnixSocketTest;

TEST_F(UnixListenerTest, AcceptsAConnectionAndTellsWhoItIs) {
  const std::unique_ptr<UnixListener> listener = MustListen(path_);
  EXPECT_EQ(listener->path(), path_);
  const absl::StatusOr<OwnedFd> client = ConnectUnix(path_, kTimeout);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ(listener->Wait(), IoState::kOk);
  const auto accepted = listener->Accept();
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  ASSERT_TRUE(accepted->has_value());
  EXPECT_EQ((*accepted)->uid, geteuid());
  EXPECT_EQ((*accepted)->pid, getpid());
  for (const int fd : {client->get(), (*accepted)->socket.get()}) {
    EXPECT_TRUE(HasCloseOnExec(fd));
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
  ASSERT_EQ(send(client->get(), "hi", 2, 0), 2);
  char buffer[3] = {};
  ASSERT_EQ(recv((*accepted)->socket.get(), buffer, 2, 0), 2);
  EXPECT_STREQ(buffer, "hi");
}

TEST_F(UnixListenerTest, AcceptGivesNothingIfNobodyWaits) {
  const std::unique_ptr<UnixListener> listener = MustListen(path_);
  const auto accepted = listener->Accept();
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  EXPECT_FALSE(accepted->has_value());
}

TEST_F(UnixListenerTest, FileIsForItsOwnerOnlyWhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0077}) {
    const mode_t old_mask = umask(mask);
    const std::unique_ptr<UnixListener> listener = MustListen(path_);
    EXPECT_EQ(umask(old_mask), mask);  // nobody changed it meanwhile
    struct stat file = {};
    ASSERT_EQ(lstat(path_.c_str(), &file), 0);
    EXPECT_TRUE(S_ISSOCK(file.st_mode));
    EXPECT_EQ(file.st_mode & 07777, 0600u);
  }
}

TEST_F(UnixListenerTest, ASocketForAnyUserIsThatWhateverTheUmask) {
  const mode_t old_mask = umask(077);
  const absl::StatusOr<std::unique_ptr<UnixListener>> listener =
      UnixListener::Listen(path_, UnixListener::kAnyUser);
  umask(old_mask);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat file = {};
  ASSERT_EQ(lstat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0666u);
}

TEST_F(UnixListenerTest, TheFileHasTheGroupAndTheModeThatWereAskedFor) {
  const gid_t group = getegid();  // the only one that every user may give a file to
  const auto listener = UnixListener::Listen(path_, 0660, group);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat file = {};
  ASSERT_EQ(lstat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_gid, group);
  EXPECT_EQ((*listener)->mode(), 0660u);
  EXPECT_TRUE(ConnectStatus(path_).ok());
}

TEST_F(UnixListenerTest, AnAdoptedSocketServesAndItsFileStays) {
  OwnedFd socket = BindRaw(path_, SOCK_STREAM, 8);
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  {
    const auto listener = UnixListener::Adopt(std::move(socket));
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ((*listener)->path(), path_);
    EXPECT_EQ((*listener)->mode(), 0640u);
    EXPECT_FALSE((*(*listener)->Accept()).has_value()) << "it must not block";
    ASSERT_TRUE(ConnectStatus(path_).ok());
    EXPECT_TRUE((*(*listener)->Accept()).has_value());
  }
  EXPECT_TRUE(Exists(path_));
}

TEST_F(UnixListenerTest, AnAdoptedSocketMayHaveNoFile) {
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
  ASSERT_EQ(listen(fd.get(), 1), 0);
  const auto listener = UnixListener::Adopt(std::move(fd));
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_EQ((*listener)->path().front(), '@');
  EXPECT_EQ((*listener)->mode(), 0u);
}

TEST_F(UnixListenerTest, WhatDoesNotListenIsNotAdopted) {
  EXPECT_EQ(UnixListener::Adopt(BindRaw(path_, SOCK_STREAM, -1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(UnixListener::Adopt(BindRaw(path_ + "2", SOCK_DGRAM, -1)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(UnixListener::Adopt(OwnedFd()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixListenerTest, RefusesALiveSocket) {
  const std::unique_ptr<UnixListener> first = MustListen(path_);
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(ConnectStatus(path_).ok());  // and left it alone
}

TEST_F(UnixListenerTest, RefusesALiveSocketWhoseQueueIsFull) {
  const OwnedFd live = BindRaw(path_, SOCK_STREAM, 0);
  const absl::StatusOr<OwnedFd> waiting = ConnectUnix(path_, kTimeout);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kAlreadyExists);
}

TEST_F(UnixListenerTest, RefusesASocketOfAnotherKind) {
  const OwnedFd live = BindRaw(path_, SOCK_DGRAM, -1);
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kAlreadyExists);
}

TEST_F(UnixListenerTest, ReplacesAStaleSocket) {
  LeaveStaleSocket(path_);
  ASSERT_TRUE(Exists(path_));
  const std::unique_ptr<UnixListener> listener = MustListen(path_);
  EXPECT_TRUE(ConnectStatus(path_).ok());
}

TEST_F(UnixListenerTest, RefusesToReplaceWhatIsNotASocket) {
  MakeFile(path_);
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(Exists(path_));

  const std::string link = folder_ + "/link";
  LeaveStaleSocket(folder_ + "/stale");
  ASSERT_EQ(symlink("stale", link.c_str()), 0);
  EXPECT_EQ(CodeOfListen(link), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(Exists(folder_ + "/stale"));

  const std::string sub = folder_ + "/sub";
  ASSERT_EQ(mkdir(sub.c_str(), 0700), 0);
  EXPECT_EQ(CodeOfListen(sub), absl::StatusCode::kAlreadyExists);
}

TEST_F(UnixListenerTest, ChecksThePath) {
  EXPECT_EQ(CodeOfListen(""), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfListen(std::string_view("\0abstract", 9)), absl::StatusCode::kInvalidArgument);
  const std::string longest = folder_ + "/" + std::string(107 - folder_.size() - 1, 'x');
  EXPECT_EQ(CodeOfListen(longest + "x"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOfListen(longest), absl::StatusCode::kOk);
}

TEST_F(UnixListenerTest, SaysThatTheFolderIsMissing) {
  EXPECT_EQ(CodeOfListen(folder_ + "/no/w.sock"), absl::StatusCode::kNotFound);
}

TEST_F(UnixListenerTest, SaysThatTheFolderIsForbidden) {
  const ForbiddenFolder forbidden(folder_);
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kPermissionDenied);
}

TEST_F(UnixListenerTest, GivesUpIfTheFolderStaysLocked) {
  const OwnedFd folder(open(folder_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(folder.get(), LOCK_EX), 0);
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(Exists(path_));
  ASSERT_EQ(flock(folder.get(), LOCK_UN), 0);
  EXPECT_EQ(CodeOfListen(path_), absl::StatusCode::kOk);
}

TEST_F(UnixListenerTest, OfManyThatStartAtOnceOneWins) {
  LeaveStaleSocket(path_);
  std::promise<void> start;
  std::shared_future<void> started = start.get_future().share();
  std::vector<std::future<absl::StatusOr<std::unique_ptr<UnixListener>>>> tries;
  tries.reserve(8);
  for (int i = 0; i < 8; ++i) {
    tries.push_back(std::async(std::launch::async, [&] {
      started.wait();
      return UnixListener::Listen(path_);
    }));
  }
  start.set_value();
  std::vector<std::unique_ptr<UnixListener>> winners;
  for (auto& one : tries) {
    absl::StatusOr<std::unique_ptr<UnixListener>> result = one.get();
    if (result.ok()) {
      winners.push_back(*std::move(result));
    } else {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kAlreadyExists);
    }
  }
  EXPECT_EQ(winners.size(), 1u);
  EXPECT_TRUE(ConnectStatus(path_).ok());
}

TEST_F(UnixListenerTest, RemovesItsFile) {
  MustListen(path_);
  EXPECT_FALSE(Exists(path_));
}

TEST_F(UnixListenerTest, LeavesAFileThatSomebodyPutInItsPlace) {
  std::unique_ptr<UnixListener> first = MustListen(path_);
  ASSERT_EQ(unlink(path_.c_str()), 0);
  const std::unique_ptr<UnixListener> second = MustListen(path_);
  first.reset();
  EXPECT_TRUE(Exists(path_));
  EXPECT_TRUE(ConnectStatus(path_).ok());
}

TEST_F(UnixListenerTest, AcceptSurvivesWantOfDescriptors) {
  const std::unique_ptr<UnixListener> listener = MustListen(path_);
  const absl::StatusOr<OwnedFd> client = ConnectUnix(path_, kTimeout);
  ASSERT_TRUE(client.ok());
  {
    const NoMoreFds limit;
    EXPECT_EQ(listener->Accept().status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(CodeOfListen(folder_ + "/other"), absl::StatusCode::kInternal);
  }
  const auto accepted = listener->Accept();
  ASSERT_TRUE(accepted.ok());
  EXPECT_TRUE(accepted->has_value());
}

TEST_F(UnixListenerTest, ShutdownWakesTheWaiterForGood) {
  const std::unique_ptr<UnixListener> listener = MustListen(path_);
  std::promise<pid_t> started;
  IoState state = IoState::kOk;
  std::thread waiter([&] {
    started.set_value(ThisThread());
    state = listener->Wait();
  });
  AwaitBlocked(started.get_future().get());
  listener->Shutdown();
  waiter.join();
  EXPECT_EQ(state, IoState::kClosed);
  listener->Shutdown();
  EXPECT_EQ(listener->Wait(), IoState::kClosed);
}

TEST_F(UnixConnectTest, SaysThatThereIsNoSocket) {
  const absl::Status status = ConnectStatus(path_);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find(path_), std::string::npos);
  EXPECT_EQ(ConnectStatus(folder_ + "/no/w.sock").code(), absl::StatusCode::kNotFound);
}

TEST_F(UnixConnectTest, SaysThatNobodyListens) {
  LeaveStaleSocket(path_);
  const absl::Status status = ConnectStatus(path_);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "no worker is listening on " + path_);
}

TEST_F(UnixConnectTest, RefusesWhatIsNotAStreamSocket) {
  MakeFile(folder_ + "/file");
  EXPECT_EQ(ConnectStatus(folder_ + "/file").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ConnectStatus(folder_).code(), absl::StatusCode::kInvalidArgument);
  const OwnedFd datagram = BindRaw(path_, SOCK_DGRAM, -1);
  EXPECT_EQ(ConnectStatus(path_).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixConnectTest, SaysThatTheSocketIsForbidden) {
  const std::unique_ptr<UnixListener> listener = MustListen(path_);
  const ForbiddenFolder forbidden(folder_);
  EXPECT_EQ(ConnectStatus(path_).code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(UnixConnectTest, ChecksThePath) {
  EXPECT_EQ(ConnectStatus("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ConnectStatus(std::string(108, 'x')).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(UnixConnectTest, GivesUpOnAWorkerThatTakesNobody) {
  const OwnedFd live = BindRaw(path_, SOCK_STREAM, 0);
  const absl::StatusOr<OwnedFd> waiting = ConnectUnix(path_, kTimeout);
  ASSERT_TRUE(waiting.ok());
  for (const absl::Duration timeout : {absl::ZeroDuration(), absl::Milliseconds(20)}) {
    EXPECT_EQ(ConnectStatus(path_, timeout).code(), absl::StatusCode::kDeadlineExceeded);
  }
}

}  // namespace
}  // namespace superfluid
