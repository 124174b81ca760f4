#include "actors/link/connection_sorter.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "protocol/transport/unix_connect.h"
#include "protocol/transport/unix_listener.h"

namespace superfluid {
namespace {

std::string HelloFrame() {
  linkw::Hello hello;
  hello.client_name = "test";
  hello.role = linkw::Role::kObserver;
  const linkw::EncodedMessage encoded = linkw::Serialize(linkw::DriverMessage(hello));
  return *linkw::FrameEncoder().Encode(encoded.type, 0, encoded.payload);
}

// The ERROR that these bytes are.
linkw::Error LastWordOf(const std::string& bytes) {
  linkw::FrameDecoder decoder;
  decoder.Append(bytes);
  const auto frame = decoder.Next();
  EXPECT_TRUE(frame.ok() && frame->has_value()) << frame.status();
  if (!frame.ok() || !frame->has_value()) return {};
  const auto message = linkw::ParseWorkerMessage((*frame)->type(), (*frame)->payload);
  if (!message.ok() || !std::holds_alternative<linkw::Error>(*message)) {
    ADD_FAILURE() << "another message";
    return {};
  }
  return std::get<linkw::Error>(*message);
}

absl::Duration CpuOfThisThread() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return absl::DurationFromTimespec(used);
}

class ConnectionSorterTest : public testing::Test {
 protected:
  ConnectionSorterTest() {
    char name[] = "/tmp/sfsXXXXXX";
    folder_ = mkdtemp(name);
    listener_ = *UnixListener::Listen(folder_ + "/w.sock");
    options_.allowed_uids = {geteuid()};
    options_.patience = absl::Minutes(10);
  }
  ~ConnectionSorterTest() override {
    Stop();
    listener_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start() {
    ConnectionSorter::Callbacks callbacks;
    callbacks.on_frames = [this](AcceptedConnection connection, std::string received) {
      const std::lock_guard lock(mutex_);
      frames_.emplace_back(std::move(connection.socket), std::move(received));
      changed_.notify_all();
    };
    callbacks.on_descriptors = [](const linkw::LinkToken&, OwnedFd) {};
    thread_ = std::thread([this, callbacks] {
      ConnectionSorter(*listener_, options_, callbacks).Run();
      cpu_ = CpuOfThisThread();
    });
  }
  void Stop() {
    if (!thread_.joinable()) return;
    listener_->Shutdown();
    thread_.join();
  }

  // What was read of the next connection that was handed on.
  std::string NextReceived() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60),
                                  [this] { return frames_.size() > taken_; }));
    return frames_.size() > taken_ ? frames_[taken_++].second : "";
  }

  OwnedFd Connect() const { return *ConnectUnix(listener_->path(), absl::Seconds(30)); }
  static void Send(const OwnedFd& socket, std::string_view bytes) {
    ASSERT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What comes until the other side closes.
  static std::string ReadToEnd(const OwnedFd& socket) {
    std::string all;
    pollfd readable{.fd = socket.get(), .events = POLLIN, .revents = 0};
    char piece[4096];
    while (poll(&readable, 1, 60'000) == 1) {
      const ssize_t got = recv(socket.get(), piece, sizeof piece, 0);
      if (got <= 0) return all;
      all.append(piece, static_cast<size_t>(got));
    }
    ADD_FAILURE() << "the connection stays open";
    return all;
  }

  std::string folder_;
  std::unique_ptr<UnixListener> listener_;
  ConnectionSorter::Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<OwnedFd, std::string>> frames_;
  size_t taken_ = 0;
  std::thread thread_;
  absl::Duration cpu_;
};

TEST_F(ConnectionSorterTest, AFewBytesBurnNoCore) {
  options_.patience = absl::Milliseconds(400);
  Start();
  const OwnedFd one = Connect();
  Send(one, "S");
  const OwnedFd ten = Connect();
  Send(ten, "0123456789");
  EXPECT_EQ(ReadToEnd(one), "");
  EXPECT_EQ(ReadToEnd(ten), "");
  Stop();
  EXPECT_LT(cpu_, absl::Milliseconds(100));
}

TEST_F(ConnectionSorterTest, HalfAHelloIsClosedAsSilenceIs) {
  options_.patience = absl::Milliseconds(50);
  Start();
  const std::string hello = HelloFrame();
  const OwnedFd half = Connect();
  Send(half, std::string_view(hello).substr(0, hello.size() - 1));
  EXPECT_EQ(ReadToEnd(half), "");
}

TEST_F(ConnectionSorterTest, StrangersWithHalfAHelloKeepNobodyOut) {
  options_.max_undecided = 8;
  Start();
  const std::string hello = HelloFrame();
  std::vector<OwnedFd> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(Connect());
    Send(strangers.back(), std::string_view(hello).substr(0, hello.size() - 1));
  }
  EXPECT_EQ(LastWordOf(ReadToEnd(strangers.front())).status, linkw::Status::kBusy)
      << "the oldest gives way";
  const OwnedFd peer = Connect();
  Send(peer, hello);
  EXPECT_EQ(NextReceived(), hello);
}

// A daemon's observers come back together, say: each has sent its HELLO.
TEST_F(ConnectionSorterTest, ManyThatComeTogetherAreAllHandedOn) {
  options_.max_undecided = 2;
  const std::string hello = HelloFrame();
  std::vector<OwnedFd> peers;
  for (int i = 0; i < 20; ++i) {
    peers.push_back(Connect());
    Send(peers.back(), hello);
  }
  Start();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(NextReceived(), hello) << i;
}

TEST_F(ConnectionSorterTest, AHelloInPiecesIsHandedOnWhole) {
  Start();
  const std::string hello = HelloFrame();
  const OwnedFd peer = Connect();
  for (const char byte : hello) Send(peer, {&byte, 1});
  EXPECT_EQ(NextReceived(), hello);
}

TEST_F(ConnectionSorterTest, AUserWhoIsNotAllowedIsToldSo) {
  options_.allowed_uids = {geteuid() + 1};
  Start();
  const OwnedFd peer = Connect();
  const linkw::Error error = LastWordOf(ReadToEnd(peer));
  EXPECT_EQ(error.status, linkw::Status::kPermissionDenied);
  EXPECT_TRUE(error.fatal);
}

}  // namespace
}  // namespace superfluid
