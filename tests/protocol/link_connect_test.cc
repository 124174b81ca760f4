// Connecting over a socket file, and passing descriptors.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/status.h"
#include "protocol/transport/unix_listener.h"
#include "shm/fd_passing.h"
#include "shm/owned_fd.h"
#include "tests/protocol/client_fixture.h"

namespace superfluid::linkw {
namespace {

class LinkConnectTest : public ClientTest {
 protected:
  void SetUp() override {
    // Short: a socket's path has at most 107 bytes.
    std::string folder = "/tmp/linkwXXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/worker.sock";
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Listen() {
    auto listener = UnixListener::Listen(path_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
  }

  OwnedFd AcceptOne() {
    EXPECT_EQ(listener_->Wait(), IoState::kOk);
    auto connection = listener_->Accept();
    EXPECT_TRUE(connection.ok() && connection->has_value());
    const int flags = fcntl((*connection)->socket.get(), F_GETFL);
    fcntl((*connection)->socket.get(), F_SETFL, flags & ~O_NONBLOCK);
    return std::move((*connection)->socket);
  }

  std::future<ClientOr> StartConnect(const LinkClientOptions& options = {}) {
    return std::async(std::launch::async,
                      [this, options] { return LinkClient::Connect(path_, options); });
  }

  void AnswerHello(const HelloAck& ack) {
    worker_.emplace(AcceptOne());
    uint64_t seq = 0;
    worker_->Expect<Hello>(&seq);
    worker_->Send(seq, ack);
  }

  std::string folder_;
  std::string path_;
  std::unique_ptr<UnixListener> listener_;
};

TEST_F(LinkConnectTest, ADriverOpensASecondConnectionWithTheToken) {
  Listen();
  auto client = StartConnect();
  AnswerHello(SampleHelloAck());
  const OwnedFd fds = AcceptOne();
  std::string token(17, '\0');
  EXPECT_EQ(recv(fds.get(), token.data(), token.size(), 0), 16);
  EXPECT_EQ(token.substr(0, 16), std::string(16, '\x09'));
  const auto connected = client.get();
  ASSERT_TRUE(connected.ok()) << connected.status();

  const OwnedFd memory(memfd_create("test", MFD_CLOEXEC));
  ASSERT_TRUE((*connected)->SendFd(77, memory.get()).ok());
  TaggedFdReceiver receiver(fds.get());
  const auto received = receiver.Receive();
  ASSERT_TRUE(received.ok() && received->item.has_value());
  EXPECT_EQ(received->item->tag, 77u);
}

TEST_F(LinkConnectTest, AnObserverHasOneConnection) {
  Listen();
  LinkClientOptions options;
  options.role = Role::kObserver;
  auto client = StartConnect(options);
  AnswerHello(SampleHelloAck());
  const auto connected = client.get();
  ASSERT_TRUE(connected.ok()) << connected.status();
  EXPECT_EQ((*connected)->fds(), nullptr);
  ExpectError((*connected)->SendFd(1, 0), Status::kFailedPrecondition, "no fds connection");
  EXPECT_FALSE(listener_->Accept()->has_value());
}

Pong Loading(uint32_t permille) {
  Pong pong;
  pong.engine_state = EngineState::kLoading;
  pong.load_permille = permille;
  return pong;
}

// A worker that loads, and answers so many pings before HELLO.
class LoadingConnectTest : public LinkConnectTest {
 protected:
  void LoadFor(int pings) {
    worker_.emplace(AcceptOne());
    worker_->Expect<Hello>(&hello_);
    for (int i = 1; i <= pings; ++i) {
      uint64_t ping = 0;
      worker_->Expect<Ping>(&ping);
      worker_->Send(ping, Loading(static_cast<uint32_t>(i) * 100));
    }
  }

  uint64_t hello_ = 0;
};

TEST_F(LoadingConnectTest, AWorkerThatLoadsIsWaitedForAsLongAsItSaysSo) {
  Listen();
  std::vector<uint32_t> told;
  LinkClientOptions options;
  options.role = Role::kObserver;
  options.on_loading = [&told](const Pong& pong) {
    told.push_back(pong.load_permille);
    return true;
  };
  auto client = StartConnect(options);
  LoadFor(3);
  worker_->Send(hello_, SampleHelloAck());
  const auto connected = client.get();
  ASSERT_TRUE(connected.ok()) << connected.status();
  EXPECT_EQ(told, (std::vector<uint32_t>{100, 200, 300}));
}

TEST_F(LoadingConnectTest, WithoutPatienceTheErrorSaysThatItLoads) {
  Listen();
  LinkClientOptions options;
  options.connect_timeout = absl::Seconds(1);
  auto client = StartConnect(options);
  LoadFor(1);
  const absl::Status status = client.get().status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(status.message(), "the worker still loads its engine (10 %)");
}

TEST_F(LoadingConnectTest, WhoOnlyPingsNeedNotWait) {
  Listen();
  LinkClientOptions options;
  options.role = Role::kObserver;
  options.accept_loading = true;
  auto client = StartConnect(options);
  LoadFor(1);
  const auto connected = client.get();
  ASSERT_TRUE(connected.ok()) << connected.status();
  EXPECT_EQ((*connected)->hello_ack(), HelloAck());
  auto pong = std::async(std::launch::async, [&] { return (*connected)->Ping(); });
  uint64_t ping = 0;
  worker_->Expect<Ping>(&ping);
  worker_->Send(hello_, SampleHelloAck());  // nobody waits for it any more
  worker_->Send(ping, Loading(200));
  const absl::StatusOr<Pong> answer = pong.get();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->load_permille, 200U);
}

TEST_F(LoadingConnectTest, WhyItDidNotLoadIsTheErrorOfTheHandshake) {
  Listen();
  auto client = StartConnect();
  LoadFor(1);
  worker_->Send(hello_, Error{.status = Status::kEngineFailed,
                              .message = "the model is damaged",
                              .detail = {},
                              .fatal = true});
  worker_->Vanish();
  ExpectError(client.get().status(), Status::kEngineFailed, "the model is damaged");
}

TEST_F(LinkConnectTest, NoTokenNoSecondConnection) {
  Listen();
  auto client = StartConnect();
  HelloAck ack = SampleHelloAck();
  ack.link_token = {};
  AnswerHello(ack);
  const auto connected = client.get();
  ASSERT_TRUE(connected.ok()) << connected.status();
  EXPECT_EQ((*connected)->fds(), nullptr);
}

TEST_F(LinkConnectTest, NobodyThereIsSaidAtOnce) {
  EXPECT_TRUE(absl::IsNotFound(LinkClient::Connect(path_).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(LinkClient::Connect(std::string(200, 'p')).status()));
}

TEST_F(LinkConnectTest, CanWaitForAWorkerThatIsStillStarting) {
  LinkClientOptions options;
  options.wait_for_listener = true;
  auto client = StartConnect(options);
  Listen();
  AnswerHello(SampleHelloAck());
  const OwnedFd fds = AcceptOne();
  EXPECT_TRUE(client.get().ok());
}

TEST_F(LinkConnectTest, WaitingForAWorkerEnds) {
  LinkClientOptions options;
  options.wait_for_listener = true;
  options.connect_timeout = absl::Milliseconds(50);
  EXPECT_TRUE(absl::IsNotFound(LinkClient::Connect(path_, options).status()));
}

TEST_F(LinkConnectTest, DescriptorsGoBothWaysOverAdoptedSockets) {
  Connect();
  const OwnedFd memory(memfd_create("test", MFD_CLOEXEC));
  ASSERT_TRUE(client_->SendFd(~uint64_t{0}, memory.get()).ok());
  TaggedFdReceiver receiver(worker_fds_.get());
  const auto received = receiver.Receive();
  ASSERT_TRUE(received.ok() && received->item.has_value());
  EXPECT_EQ(received->item->tag, ~uint64_t{0});

  ASSERT_EQ(*SendTaggedFd(worker_fds_.get(), 5, memory.get()), IoState::kOk);
  const auto returned = client_->fds()->Receive();
  ASSERT_TRUE(returned.ok() && returned->item.has_value());
  EXPECT_EQ(returned->item->tag, 5u);
}

TEST_F(LinkConnectTest, AWorkerThatTakesNoDescriptorsIsBusyAndOneThatLeftIsGone) {
  Connect();
  const OwnedFd memory(memfd_create("test", MFD_CLOEXEC));
  absl::Status status;
  while (status.ok()) status = client_->SendFd(1, memory.get());
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  worker_fds_.Reset();
  ExpectError(client_->SendFd(1, memory.get()), Status::kLinkClosed, "fds connection");
}

}  // namespace
}  // namespace superfluid::linkw
