#include "actors/link/read_credit.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr ReadCredit::Amount kOne = {.frames = 1, .urgent_frames = 0, .payload_bytes = 100};

class ReadCreditTest : public testing::Test {
 protected:
  bool HasFrames() const { return credit_.frames() > 0; }
  ReadCredit credit_{{.frames = 2, .urgent_frames = 1, .payload_bytes = 150}};
};

TEST_F(ReadCreditTest, IsTakenAndGivenBack) {
  credit_.Take(kOne);
  credit_.Take({.frames = 0, .urgent_frames = 1, .payload_bytes = 100});
  EXPECT_EQ(credit_.frames(), 1);
  EXPECT_EQ(credit_.urgent_frames(), 0);
  EXPECT_EQ(credit_.payload_bytes(), -50);
  EXPECT_FALSE(credit_.Give(kOne)) << "nobody waits";
  EXPECT_EQ(credit_.frames(), 2);
  EXPECT_EQ(credit_.payload_bytes(), 50);
}

TEST_F(ReadCreditTest, AReaderThatWaitsIsToldOnce) {
  credit_.Take(kOne);
  credit_.Take(kOne);
  EXPECT_TRUE(credit_.Await([this] { return HasFrames(); }));
  EXPECT_TRUE(credit_.Give(kOne));
  EXPECT_FALSE(credit_.Give(kOne));
}

TEST_F(ReadCreditTest, AReaderThatFindsCreditDoesNotWait) {
  EXPECT_FALSE(credit_.Await([this] { return HasFrames(); }));
  EXPECT_FALSE(credit_.Give(kOne));
}

// A reader that takes all and waits is told whenever there is some again: neither may sleep on.
TEST_F(ReadCreditTest, NoCreditIsMissed) {
  constexpr int kFrames = 2000;
  std::atomic<int> outstanding = 0;
  std::atomic<int> told = 0;
  std::atomic<bool> done = false;
  std::thread giver([&] {
    while (!done || outstanding > 0) {
      if (outstanding == 0) {
        std::this_thread::yield();
        continue;
      }
      --outstanding;
      if (credit_.Give(kOne)) ++told;
    }
  });
  int waits = 0;
  for (int taken = 0; taken < kFrames;) {
    if (HasFrames()) {
      credit_.Take(kOne);
      ++outstanding;
      ++taken;
    } else if (credit_.Await([this] { return HasFrames(); })) {
      ++waits;
      while (told < waits) std::this_thread::yield();
    } else {
      waits = told;  // it may have been told all the same
    }
  }
  done = true;
  giver.join();
  EXPECT_EQ(credit_.frames(), 2);
}

}  // namespace
}  // namespace superfluid
