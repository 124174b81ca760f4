// A part of a link dies, or cannot be made: a whole worker in virtual time.

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "actors/runtime/caf_compat.h"
#include "gtest/gtest.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

enum class Dies { kNever, kReading, kWriting };

// A stream at whose next use memory is short, once it is told so.
class FailingStream : public ByteStream {
 public:
  FailingStream(std::shared_ptr<ByteStream> stream, std::shared_ptr<Dies> dies)
      : stream_(std::move(stream)), dies_(std::move(dies)) {}

  absl::StatusOr<IoResult> Read(absl::Span<char> out) override {
    if (*dies_ == Dies::kReading) throw std::bad_alloc();
    return stream_->Read(out);
  }
  absl::StatusOr<IoResult> Write(absl::Span<const std::string_view> pieces) override {
    if (*dies_ == Dies::kWriting) throw std::bad_alloc();
    return stream_->Write(pieces);
  }
  void WhenReadable(std::function<void()> ready) override {
    stream_->WhenReadable(std::move(ready));
  }
  void WhenWritable(std::function<void()> ready, absl::Duration patience) override {
    stream_->WhenWritable(std::move(ready), patience);
  }
  void WhenGone(std::function<void()> gone) override { stream_->WhenGone(std::move(gone)); }
  void Shutdown() override { stream_->Shutdown(); }
  std::optional<uid_t> peer_uid() const override { return stream_->peer_uid(); }

 private:
  const std::shared_ptr<ByteStream> stream_;
  const std::shared_ptr<Dies> dies_;
};

// A channel through which nothing can be sent for lack of memory.
class FailingChannel : public FdChannel {
 public:
  explicit FailingChannel(std::shared_ptr<FdChannel> channel) : channel_(std::move(channel)) {}

  absl::StatusOr<FdReceiveResult> Receive() override { return channel_->Receive(); }
  absl::StatusOr<IoState> Send(uint64_t /*tag*/, int /*fd*/) override { throw std::bad_alloc(); }
  void WhenReadable(std::function<void()> ready) override {
    channel_->WhenReadable(std::move(ready));
  }
  void Shutdown() override { channel_->Shutdown(); }

 private:
  const std::shared_ptr<FdChannel> channel_;
};

class LinkDeathTest : public WorkerFixture {
 protected:
  // A driver whose stream can be made to fail.
  Peer& ConnectMortalDriver() {
    wrap_stream = [this](std::shared_ptr<ByteStream> stream) {
      return std::make_shared<FailingStream>(std::move(stream), dies_);
    };
    Peer& peer = ConnectDriver();
    wrap_stream = nullptr;
    return peer;
  }

  static void ExpectFatalInternal(Peer& peer) {
    const auto error = peer.Expect<linkw::Error>(0);
    EXPECT_EQ(error.status, Status::kInternal);
    EXPECT_TRUE(error.fatal);
    EXPECT_TRUE(peer.empty());
    EXPECT_TRUE(peer.closed());
  }

  std::shared_ptr<Dies> dies_ = std::make_shared<Dies>(Dies::kNever);
};

TEST_F(LinkDeathTest, AReaderThatDiesEndsItsLinkAndFreesTheRole) {
  Start();
  Peer& peer = ConnectMortalDriver();
  *dies_ = Dies::kReading;
  peer.Send(linkw::Ping{});
  Run();
  ExpectFatalInternal(peer);
  ConnectDriver();
}

TEST_F(LinkDeathTest, AWriterThatDiesShutsTheStreamAndFreesTheRole) {
  Start();
  Peer& peer = ConnectMortalDriver();
  *dies_ = Dies::kWriting;
  peer.Send(linkw::Ping{});
  Run();
  EXPECT_TRUE(peer.closed());
  ConnectDriver();
}

TEST_F(LinkDeathTest, ADispatcherThatDiesIsToldByItsWriterAndShutsBothSockets) {
  Start();
  wrap_channel = [](std::shared_ptr<FdChannel> channel) {
    return std::make_shared<FailingChannel>(std::move(channel));
  };
  Peer& peer = ConnectDriver();
  wrap_channel = nullptr;
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  peer.Expect<linkw::Pong>(ping);
  peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId{1}, .len = 4096});
  Run();
  ExpectFatalInternal(peer);
  EXPECT_TRUE(peer.descriptors_closed());
  ConnectDriver();
}

TEST_F(LinkDeathTest, WithoutMemoryANewcomerIsToldBusyAndTheOthersGoOn) {
  auto short_of_memory = std::make_shared<bool>(false);
  config.make_token = [short_of_memory] {
    if (*short_of_memory) throw std::bad_alloc();
    return linkw::LinkToken{7};
  };
  Start();
  Peer& driver = ConnectDriver();
  const uint64_t work = SendTranscription(driver, 500);
  *short_of_memory = true;
  Peer& newcomer = Connect(false);
  newcomer.SendHello(linkw::Role::kObserver);
  Run();
  const Received refused = newcomer.Take();
  const auto* error = std::get_if<linkw::Error>(&refused.message);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->status, Status::kBusy);
  EXPECT_TRUE(newcomer.closed());
  EXPECT_EQ(TakeAll(driver, work).status, Status::kOk);
  *short_of_memory = false;
  ConnectObserver();
}

}  // namespace
}  // namespace superfluid
