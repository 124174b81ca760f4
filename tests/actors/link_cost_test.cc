// What a link costs its thread: messages, writes, and what is left to others. A whole worker in
// virtual time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/messages/messages.h"
#include "protocol/messages/status.h"
#include "tests/actors/generation_fixture.h"

namespace superfluid {
namespace {

// A stream that counts what is written to it.
class CountingStream : public ByteStream {
 public:
  CountingStream(std::shared_ptr<ByteStream> stream, std::shared_ptr<size_t> writes)
      : stream_(std::move(stream)), writes_(std::move(writes)) {}

  absl::StatusOr<IoResult> Read(absl::Span<char> out) override { return stream_->Read(out); }
  absl::StatusOr<IoResult> Write(absl::Span<const std::string_view> pieces) override {
    ++*writes_;
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
  const std::shared_ptr<size_t> writes_;
};

class LinkCostTest : public GenerationFixture {
 protected:
  struct Cost {
    size_t messages = 0;
    size_t writes = 0;
  };

  LinkCostTest() {
    wrap_stream = [this](std::shared_ptr<ByteStream> stream) {
      return std::make_shared<CountingStream>(std::move(stream), writes_);
    };
  }

  // Runs what there is to do at this moment.
  Cost Count() {
    const size_t writes = *writes_;
    Cost cost{.messages = RunSome(100'000)};
    ReadAll();
    cost.writes = *writes_ - writes;
    return cost;
  }

  // Cancels so many transcriptions that wait for their audio.
  Cost CancelTranscriptions(Peer& peer, size_t count) {
    std::vector<uint64_t> seqs;
    for (size_t i = 0; i < count; ++i) seqs.push_back(peer.Send(LiveRequest()));
    Run();
    EXPECT_TRUE(peer.empty());
    peer.Send(linkw::TranscribeCancel{.request_seq = 0});
    const Cost cost = Count();
    EXPECT_EQ(peer.received().size(), count);
    peer.received().clear();
    return cost;
  }

  const std::shared_ptr<size_t> writes_ = std::make_shared<size_t>(0);
};

// Read, hand over, compute, answer, end; and a look whether the next tick is there already.
TEST_F(LinkCostTest, ATickThatComesAloneTakesSixMessages) {
  Peer& peer = StartDriver();
  const linkw::SequenceId sequence = Prefill(peer, {1, 2, 3});
  for (int i = 0; i < 3; ++i) {
    const uint64_t tick = SendTick(peer, {Lane(1, sequence, {}, 1)});
    const Cost cost = Count();
    EXPECT_LE(cost.messages, 6u);
    EXPECT_EQ(cost.writes, 1u);
    EXPECT_EQ(peer.Expect<linkw::TickResult>(tick).status, linkw::Status::kOk);
  }
}

TEST_F(LinkCostTest, APingTakesThreeMessages) {
  Peer& peer = StartDriver();
  const uint64_t ping = peer.Send(linkw::Ping{});
  const Cost cost = Count();
  EXPECT_LE(cost.messages, 3u);
  EXPECT_EQ(cost.writes, 1u);
  peer.Expect<linkw::Pong>(ping);
}

TEST_F(LinkCostTest, ACancelCostsInProportionToWhatItCancels) {
  Peer& peer = StartDriver();
  const Cost few = CancelTranscriptions(peer, 50);
  const Cost many = CancelTranscriptions(peer, 250);
  // Its word, its answer, the engine's word, its end to its link, and its end to who watch it.
  EXPECT_LE(many.messages - few.messages, 200u * 6);
  EXPECT_LE(many.writes, 250u / 10) << "answers that are ready together leave together";
}

TEST_F(LinkCostTest, ALargeFrameIsDecodedElsewhere) {
  Peer& peer = StartDriver();
  readers_->hangs = true;
  const uint64_t large = peer.Send(linkw::StateSyncRequest{
      linkw::ForwardStage{.tokens = {1}, .hidden_in = std::string(size_t{1} << 20, 'h')}});
  const uint64_t behind = peer.Send(linkw::StateSyncRequest{linkw::GetLoraId{}});
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  EXPECT_EQ(peer.received().size(), 1u);
  peer.Expect<linkw::Pong>(ping);
  readers_->hangs = false;
  Run();
  peer.Expect<linkw::StateSyncResult>(large);
  peer.Expect<linkw::StateSyncResult>(behind);
  EXPECT_TRUE(peer.empty());
}

TEST_F(LinkCostTest, ALargeFrameIsDecodedHereIfNobodyElseCan) {
  Peer& peer = StartDriver();
  readers_->is_full = true;
  const uint64_t large = peer.Send(linkw::StateSyncRequest{
      linkw::ForwardStage{.tokens = {1}, .hidden_in = std::string(size_t{1} << 20, 'h')}});
  Run();
  peer.Expect<linkw::StateSyncResult>(large);
}

}  // namespace
}  // namespace superfluid
