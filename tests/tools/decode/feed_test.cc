#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tools/decode/media.h"
#include "tools/decode/decode_feed.h"
#include "tools/decode/decoder_program.h"

namespace superfluid::decode {
namespace {

constexpr uint64_t kSecondBytes = 16000 * sizeof(float);

// What takes the samples.
struct Listener {
  std::atomic<uint64_t> heard = 0;  // bytes
  std::atomic<bool> refuses = false;
  absl::Notification begun;
  absl::Notification may_go_on;
  absl::Notification ended;
  absl::StatusOr<DecodeSummary> outcome = absl::UnknownError("not ended");

  DecodeFeed::Target target() {
    return {.push =
                [this](std::string_view samples) {
                  if (refuses) return absl::DataLossError("no room");
                  heard += samples.size();
                  if (!begun.HasBeenNotified()) begun.Notify();
                  may_go_on.WaitForNotification();
                  return absl::OkStatus();
                },
            .ended =
                [this](const absl::StatusOr<DecodeSummary>& how) {
                  outcome = how;
                  ended.Notify();
                }};
  }
};

class FeedTest : public testing::Test {
 protected:
  std::unique_ptr<DecodeFeed> Feed(const std::string& bytes, const DecodeLimits& limits = {}) {
    return std::make_unique<DecodeFeed>(pool_, MemfdOf(bytes), limits, listener_.target());
  }
  absl::Status OutcomeOf(const std::string& bytes, const DecodeLimits& limits = {}) {
    if (!listener_.may_go_on.HasBeenNotified()) listener_.may_go_on.Notify();
    const auto feed = Feed(bytes, limits);
    listener_.ended.WaitForNotification();
    return listener_.outcome.status();
  }

  DecoderPool pool_{*FindDecoder(), 1};
  Listener listener_;
};

TEST_F(FeedTest, PushesAllAndSaysWhatItWas) {
  ASSERT_EQ(OutcomeOf(AmrBytes(150)), absl::OkStatus());
  EXPECT_EQ(listener_.heard, 3 * kSecondBytes);
  EXPECT_EQ(listener_.outcome->samples, 3 * 16000u);
}

TEST_F(FeedTest, EndsWhileItIsDecoding) {
  auto feed = Feed(AmrBytes(50 * 7200));
  listener_.begun.WaitForNotification();
  listener_.may_go_on.Notify();
  feed.reset();
  EXPECT_LT(listener_.heard, 7200 * kSecondBytes);
  EXPECT_FALSE(listener_.ended.HasBeenNotified());
}

TEST_F(FeedTest, EndsAtOnce) {
  listener_.may_go_on.Notify();
  Feed(AmrBytes(50 * 60)).reset();
}

TEST_F(FeedTest, SaysWhyThereIsNoSound) {
  const absl::Status status = OutcomeOf("neither sound nor picture");
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(listener_.heard, 0u);
}

TEST_F(FeedTest, SaysWhyItEndsEarly) {
  const absl::Status status = OutcomeOf(AmrBytes(100), {.max_seconds = 1});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(listener_.heard, kSecondBytes);
}

TEST_F(FeedTest, EndsWithItsTarget) {
  listener_.refuses = true;
  const absl::Status status = OutcomeOf(AmrBytes(50 * 60));
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

TEST_F(FeedTest, SaysThatNoDecoderCanBeStarted) {
  DecoderPool none("/nowhere/superfluid_decode", 0);
  const DecodeFeed feed(none, MemfdOf("x"), {}, listener_.target());
  listener_.ended.WaitForNotification();
  EXPECT_TRUE(absl::IsUnavailable(listener_.outcome.status())) << listener_.outcome.status();
}

}  // namespace
}  // namespace superfluid::decode
