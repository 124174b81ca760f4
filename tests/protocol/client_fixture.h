#ifndef SUPERFLUID_TESTS_PROTOCOL_CLIENT_FIXTURE_H_
#define SUPERFLUID_TESTS_PROTOCOL_CLIENT_FIXTURE_H_

#include <sys/socket.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "protocol/client/link_client.h"
#include "shm/owned_fd.h"
#include "tests/protocol/fake_worker.h"

namespace superfluid::linkw {

inline std::pair<OwnedFd, OwnedFd> MakeSocketPair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

// A client and the fake worker that it talks to.
class ClientTest : public testing::Test {
 protected:
  using ClientOr = absl::StatusOr<std::unique_ptr<LinkClient>>;

  // Starts connecting; the worker's side is then for the test to play.
  std::future<ClientOr> StartAdopt(const LinkClientOptions& options = {}) {
    auto [client_frames, worker_frames] = MakeSocketPair();
    auto [client_fds, worker_fds] = MakeSocketPair();
    worker_.emplace(std::move(worker_frames));
    worker_fds_ = std::move(worker_fds);
    return std::async(std::launch::async,
                      [frames = client_frames.Release(), fds = client_fds.Release(),
                       options]() -> ClientOr { return LinkClient::Adopt(frames, fds, options); });
  }

  // Connects a client and answers its HELLO.
  void Connect(const LinkClientOptions& options = {}, const HelloAck& ack = SampleHelloAck()) {
    auto client = StartAdopt(options);
    uint64_t seq = 0;
    worker_->Expect<Hello>(&seq);
    worker_->Send(seq, ack);
    ClientOr connected = client.get();
    ASSERT_TRUE(connected.ok()) << connected.status();
    client_ = *std::move(connected);
  }

  // Starts a transcription; `seq_` is its request.
  std::unique_ptr<TranscriptionStream> Transcribe() {
    linkw::Transcribe request;
    request.audio = AudioPath{"a.wav"};
    request.stream = true;
    auto stream = client_->Transcribe(request);
    EXPECT_TRUE(stream.ok()) << stream.status();
    worker_->ExpectCall<linkw::Transcribe>(&seq_);
    EXPECT_EQ((*stream)->request_seq(), seq_);
    return *std::move(stream);
  }

  // The link works: a ping gets its pong.
  void ExpectPingWorks() {
    auto pong = std::async(std::launch::async, [this] { return client_->Ping(); });
    uint64_t seq = 0;
    worker_->Expect<Ping>(&seq);
    worker_->Send(seq, PongOf(3));
    const auto answer = pong.get();
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->queue_depth, 3u);
  }

  std::optional<FakeWorker> worker_;
  OwnedFd worker_fds_;
  std::unique_ptr<LinkClient> client_;
  uint64_t seq_ = 0;
};

// The error has this wire status and says this.
inline void ExpectError(const absl::Status& status, Status expected, std::string_view text) {
  EXPECT_EQ(FromAbsl(status), expected) << status;
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos)
      << "'" << text << "' is not in: " << status;
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_CLIENT_FIXTURE_H_
