#include "tools/bench/turns.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid::bench {
namespace {

// Writes down what it is asked for.
class Recorder : public Contestant {
 public:
  Recorder(std::string name, std::vector<std::string>& calls)
      : name_(std::move(name)), calls_(calls) {}
  std::string name() const override { return name_; }
  absl::Status Prepare() override {
    calls_.push_back("prepare " + name_);
    return absl::OkStatus();
  }
  absl::Status RoundTrip() override {
    calls_.push_back(name_);
    return fails ? absl::InternalError("broken") : absl::OkStatus();
  }
  bool fails = false;

 private:
  const std::string name_;
  std::vector<std::string>& calls_;
};

TEST(TurnsTest, EveryoneHasTurnsInEachRound) {
  std::vector<std::string> calls;
  Recorder a("a", calls);
  Recorder b("b", calls);
  Contestant* const players[] = {&a, &b};
  const auto timings = PlayInTurns(players, {.rounds = 20, .operations = 3});
  ASSERT_TRUE(timings.ok()) << timings.status();
  ASSERT_EQ(timings->size(), 2);
  EXPECT_EQ((*timings)[1].name, "b");
  EXPECT_EQ((*timings)[0].rounds.size(), 20);
  ASSERT_EQ(calls.size(), 21 * 2 * 3 * 2) << "one round more, to warm up";
  int b_first = 0;
  for (size_t round = 0; round < 21; ++round) {
    const std::string& first = calls[round * 12 + 1];
    for (size_t i = 0; i < 6; i += 2) {
      EXPECT_EQ(calls[round * 12 + i], "prepare " + first);
      EXPECT_EQ(calls[round * 12 + i + 1], first);
      EXPECT_NE(calls[round * 12 + 6 + i + 1], first) << "the other one's turn";
    }
    b_first += first == "b" ? 1 : 0;
  }
  EXPECT_GT(b_first, 2) << "the order is shuffled";
  EXPECT_LT(b_first, 19);
}

TEST(TurnsTest, AnErrorNamesWhoHadIt) {
  std::vector<std::string> calls;
  Recorder a("a", calls);
  a.fails = true;
  Contestant* const players[] = {&a};
  const auto timings = PlayInTurns(players, {.rounds = 2, .operations = 2});
  EXPECT_EQ(timings.status().message(), "a: broken");
  EXPECT_EQ(calls.size(), 2) << "nothing goes on after it";
}

}  // namespace
}  // namespace superfluid::bench
