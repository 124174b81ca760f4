#include "engine/pocketsphinx/decoder_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

namespace superfluid {
namespace {

constexpr std::chrono::microseconds kNoWait(0);
constexpr std::chrono::microseconds kLong(30'000'000);

absl::StatusOr<std::unique_ptr<Decoder>> LoadDefault() {
  return Decoder::Load(*FindModelFiles(""), {});
}

TEST(DecoderPoolTest, MakesTheWarmOnesAtOnceAndOthersWhenTheyAreMissed) {
  absl::StatusOr<std::unique_ptr<DecoderPool>> pool = DecoderPool::Create(LoadDefault, 1, 2);
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_EQ((*pool)->made(), 1);
  std::unique_ptr<Decoder> first = *(*pool)->Take(kNoWait);
  ASSERT_NE(first, nullptr);
  std::unique_ptr<Decoder> second = *(*pool)->Take(kLong);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ((*pool)->made(), 2);
  EXPECT_EQ(*(*pool)->Take(kNoWait), nullptr) << "no more than its size";
  const Decoder* given_back = first.get();
  (*pool)->GiveBack(std::move(first));
  std::unique_ptr<Decoder> again = *(*pool)->Take(kLong);
  EXPECT_EQ(again.get(), given_back);
  EXPECT_EQ((*pool)->made(), 2);
  (*pool)->GiveBack(std::move(again));
  (*pool)->GiveBack(std::move(second));
}

TEST(DecoderPoolTest, ReportsAFailureOnceAndTriesAgain) {
  std::atomic<int> calls = 0;
  const auto make = [&calls]() -> absl::StatusOr<std::unique_ptr<Decoder>> {
    if (++calls == 2) return absl::ResourceExhaustedError("no memory");
    return LoadDefault();
  };
  absl::StatusOr<std::unique_ptr<DecoderPool>> pool = DecoderPool::Create(make, 1, 2);
  ASSERT_TRUE(pool.ok());
  std::unique_ptr<Decoder> first = *(*pool)->Take(kNoWait);
  EXPECT_EQ((*pool)->Take(kLong).status(), absl::ResourceExhaustedError("no memory"));
  std::unique_ptr<Decoder> second = *(*pool)->Take(kLong);
  EXPECT_NE(second, nullptr);
  (*pool)->GiveBack(std::move(first));
  (*pool)->GiveBack(std::move(second));
}

TEST(DecoderPoolTest, AFailureOfTheFirstIsTheFactorys) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Decoder>> {
    return absl::FailedPreconditionError("bad model");
  };
  EXPECT_EQ(DecoderPool::Create(make, 1, 2).status(), absl::FailedPreconditionError("bad model"));
}

TEST(DecoderPoolTest, StopsWhileADecoderIsBeingMade) {
  absl::StatusOr<std::unique_ptr<DecoderPool>> pool = DecoderPool::Create(LoadDefault, 1, 2);
  ASSERT_TRUE(pool.ok());
  std::unique_ptr<Decoder> first = *(*pool)->Take(kNoWait);
  EXPECT_EQ(*(*pool)->Take(kNoWait), nullptr);
  (*pool)->GiveBack(std::move(first));
  pool->reset();
}

}  // namespace
}  // namespace superfluid
