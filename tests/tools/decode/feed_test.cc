#include <atomic>
#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/decode/media.h"
#include "tools/decode/decode_feed.h"
#include "tools/decode/decoder_program.h"

namespace superfluid::decode {
namespace {

constexpr uint64_t kSecondBytes = 16000 * sizeof(float);

// A transcription that uses what it is told to.
struct Listener {
  std::atomic<uint64_t> heard = 0;  // bytes
  std::atomic<double> consumed = 1e9;
  std::atomic<bool> refuses = false;
  absl::Notification ended;   // all of it came
  absl::Notification failed;  // it did not
  absl::Notification full;    // as much as it may be ahead

  DecodeFeed::Target target() {
    return {.push =
                [this](const std::string& samples, bool end) {
                  if (refuses) return absl::UnavailableError("gone");
                  heard += samples.size();
                  if (end) ended.Notify();
                  return absl::OkStatus();
                },
            .consumed =
                [this] {
                  const uint64_t most = 10 * kSecondBytes;
                  const bool near_full = heard + (uint64_t{64} << 10) > most;
                  if (consumed == 0 && near_full && !full.HasBeenNotified()) full.Notify();
                  return absl::Seconds(consumed.load());
                },
            .failed = [this] { failed.Notify(); }};
  }
};

class FeedTest : public testing::Test {
 protected:
  std::unique_ptr<DecodeFeed> Feed(const std::string& bytes, const DecodeLimits& limits = {}) {
    return std::make_unique<DecodeFeed>(pool_, MemfdOf(bytes), limits, listener_.target());
  }

  DecoderPool pool_{*FindDecoder(), 1};
  Listener listener_;
};

TEST_F(FeedTest, PushesAllAndTheEnd) {
  const auto feed = Feed(AmrBytes(150));
  listener_.ended.WaitForNotification();
  EXPECT_EQ(listener_.heard, 3 * kSecondBytes);
  EXPECT_TRUE(feed->failure().ok());
}

TEST_F(FeedTest, StaysALittleAhead) {
  listener_.consumed = 0;
  const auto feed = Feed(AmrBytes(50 * 60));
  listener_.full.WaitForNotification();
  EXPECT_LE(listener_.heard, 10 * kSecondBytes);
  listener_.consumed = 1e9;
  listener_.ended.WaitForNotification();
  EXPECT_EQ(listener_.heard, 60 * kSecondBytes);
}

TEST_F(FeedTest, EndsWhileItWaits) {
  listener_.consumed = 0;
  auto feed = Feed(AmrBytes(50 * 60));
  listener_.full.WaitForNotification();
  feed.reset();
  EXPECT_FALSE(listener_.ended.HasBeenNotified());
}

TEST_F(FeedTest, EndsAtOnce) { Feed(AmrBytes(50 * 60)).reset(); }

TEST_F(FeedTest, SaysWhyThereIsNoSound) {
  const auto feed = Feed("neither sound nor picture");
  listener_.failed.WaitForNotification();
  EXPECT_TRUE(absl::IsInvalidArgument(feed->failure())) << feed->failure();
  EXPECT_EQ(listener_.heard, 0u);
}

TEST_F(FeedTest, SaysWhyItEndsEarly) {
  const auto feed = Feed(AmrBytes(100), {.max_seconds = 1});
  listener_.failed.WaitForNotification();
  EXPECT_TRUE(absl::IsResourceExhausted(feed->failure())) << feed->failure();
  EXPECT_EQ(listener_.heard, kSecondBytes);
  EXPECT_FALSE(listener_.ended.HasBeenNotified());
}

TEST_F(FeedTest, EndsWithItsTarget) {
  listener_.refuses = true;
  const auto feed = Feed(AmrBytes(50 * 60));
  EXPECT_TRUE(feed->failure().ok());
}

}  // namespace
}  // namespace superfluid::decode
