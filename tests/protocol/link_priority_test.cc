// What overtakes what on the way to a worker that reads slowly.

#include <poll.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/client/write_turn.h"
#include "tests/protocol/client_fixture.h"

namespace superfluid::linkw {
namespace {

// ---- The lock

TEST(WriteTurnTest, UrgentWaitersAreNext) {
  WriteTurn turn;
  std::mutex mutex;
  std::vector<std::string> order;
  const auto note = [&](const std::string& who) {
    const std::lock_guard lock(mutex);
    order.push_back(who);
  };
  constexpr int ordinary = 8;
  std::vector<std::thread> threads;
  turn.Take(/*urgent=*/false);
  threads.reserve(ordinary);
  for (int i = 0; i < ordinary; ++i) {
    threads.emplace_back([&] {
      const WriteTurnHolder holder(turn, /*urgent=*/false);
      note("ordinary");
    });
  }
  std::atomic<bool> started = false;
  threads.emplace_back([&] {
    started = true;
    turn.Take(/*urgent=*/true);
    note("urgent");
    turn.Give();
  });
  while (!started) std::this_thread::yield();
  while (!turn.HasUrgentWaiter()) std::this_thread::yield();
  turn.Give();
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(order.size(), ordinary + 1u);
  EXPECT_EQ(order.front(), "urgent");
}

// ---- The link

class LinkPriorityTest : public ClientTest {
 protected:
  // Keeps a descriptor of the client's socket, to see whether it has room.
  void ConnectWatched() {
    auto [client_frames, worker_frames] = MakeSocketPair();
    watched_.Reset(dup(client_frames.get()));
    worker_.emplace(std::move(worker_frames));
    auto client = std::async(std::launch::async, [fd = client_frames.Release()] {
      return LinkClient::Adopt(fd, -1, {});
    });
    uint64_t seq = 0;
    worker_->Expect<Hello>(&seq);
    worker_->Send(seq, SampleHelloAck());
    client_ = *client.get();
  }

  bool HasRoom() const {
    pollfd item = {.fd = watched_.get(), .events = POLLOUT, .revents = 0};
    return poll(&item, 1, 0) > 0;
  }

  // Audio without a pause, until told to stop.
  std::thread Flood(TranscriptionStream& stream, size_t bytes) {
    return std::thread([this, &stream, bytes] {
      while (!enough_ && stream.PushAudio(std::string(bytes, 'p')).ok()) ++pushed_;
    });
  }

  // The number of audio frames that come before the next message of another kind, a T.
  template <typename T>
  size_t FramesBefore() {
    for (size_t frames = 0;; ++frames) {
      const FakeWorker::Received received = worker_->Read();
      if (std::holds_alternative<T>(received.message)) return frames;
      if (!std::holds_alternative<TranscribeAudio>(received.message)) {
        ADD_FAILURE() << "another message came";
        return frames;
      }
    }
  }

  void ReadToTheEnd(std::thread& flood) {
    enough_ = true;
    auto end = std::async(std::launch::async, [this] { worker_->ReadsEnd(); });
    flood.join();
    client_.reset();
    end.get();
  }

  OwnedFd watched_;
  std::atomic<bool> enough_ = false;
  std::atomic<int> pushed_ = 0;
};

TEST_F(LinkPriorityTest, ACancelDoesNotWaitForAudioThatWaits) {
  ConnectWatched();
  auto stream = Transcribe();
  std::thread flood = Flood(*stream, 10'000);
  while (HasRoom()) std::this_thread::yield();
  // The worker reads nothing: this returns all the same.
  EXPECT_TRUE(stream->Cancel().ok());
  const int pushed = pushed_;
  // Only what was in the socket before it, and the frame that may have been on its way.
  EXPECT_LE(FramesBefore<TranscribeCancel>(), static_cast<size_t>(pushed) + 2);
  ReadToTheEnd(flood);
}

TEST_F(LinkPriorityTest, APingAndAnOpCancelDoNotWaitEither) {
  ConnectWatched();
  auto stream = Transcribe();
  std::thread flood = Flood(*stream, 10'000);
  while (HasRoom()) std::this_thread::yield();
  EXPECT_TRUE(client_->Send(OpCancel{OpHandle{3}}).ok());
  EXPECT_TRUE(client_->Send(Ping{}).ok());
  FramesBefore<OpCancel>();
  FramesBefore<Ping>();
  ReadToTheEnd(flood);
}

TEST_F(LinkPriorityTest, LongAudioGoesOutInFramesThatACancelCanOvertake) {
  ConnectWatched();
  auto stream = Transcribe();
  std::thread flood = Flood(*stream, 4'000'000);
  while (HasRoom()) std::this_thread::yield();
  EXPECT_TRUE(stream->Cancel().ok());
  EXPECT_EQ(pushed_, 0) << "it overtook the rest of one push";
  FramesBefore<TranscribeCancel>();
  ReadToTheEnd(flood);
}

TEST_F(LinkPriorityTest, LongAudioComesWholeAndInOrder) {
  ConnectWatched();
  auto stream = Transcribe();
  std::string sent;
  for (size_t i = 0; i < 200'001; ++i) sent.push_back(static_cast<char>(i % 251));
  auto push = std::async(std::launch::async, [&] { return stream->PushAudio(sent, true); });
  std::string seen;
  for (bool end = false; !end;) {
    const auto audio = worker_->Expect<TranscribeAudio>();
    EXPECT_EQ(audio.request_seq, seq_);
    seen += std::get<std::string>(audio.data);
    end = audio.end_of_stream;
  }
  EXPECT_EQ(seen, sent);
  EXPECT_TRUE(push.get().ok());
}

}  // namespace
}  // namespace superfluid::linkw
