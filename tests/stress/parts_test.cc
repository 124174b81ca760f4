// What the soak test itself is made of.

#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "protocol/messages/messages.h"
#include "tests/stress/fates.h"
#include "tests/stress/references.h"
#include "tests/stress/soak_options.h"
#include "tests/stress/tally.h"

namespace superfluid::stress {
namespace {

TEST(TallyTest, CountsAndTimesAreInTheSummary) {
  Tally tally;
  tally.Count("speech.done");
  tally.Count("speech.cancelled", 2);
  tally.Count("tick.done", 4);
  for (int ms = 1; ms <= 100; ++ms) tally.Time("speech.cancel", absl::Milliseconds(ms));
  EXPECT_EQ(tally.Of("speech.cancelled"), 2U);
  EXPECT_EQ(tally.Of("nothing"), 0U);
  EXPECT_EQ(tally.Progress(), "speech 3, tick 4, failures 0");
  const std::string summary = tally.Summary();
  EXPECT_NE(summary.find("speech.cancelled                         2\n"), std::string::npos);
  EXPECT_NE(summary.find("100     50.00     99.00    100.00\n"), std::string::npos) << summary;
  EXPECT_FALSE(tally.failed());
}

TEST(TallyTest, WhatNeverHappenedFailsIfItIsRequired) {
  Tally tally;
  tally.Count("tick.done");
  tally.Require({"tick.done"});
  EXPECT_FALSE(tally.failed());
  tally.Require({"tick.done", "tick.stopped"});
  EXPECT_TRUE(tally.failed());
  EXPECT_NE(tally.Summary().find("never happened: tick.stopped"), std::string::npos);
}

TEST(FatesTest, EachComesAsOftenAsItIsInTheDeck) {
  std::mt19937_64 random(1);
  Fates<char> fates({'a', 'a', 'b'}, random);
  std::map<char, int> seen;
  for (int i = 0; i < 30; ++i) ++seen[fates.Next()];
  EXPECT_EQ(seen['a'], 20);
  EXPECT_EQ(seen['b'], 10);
}

TEST(ReferencesTest, TextIsThePromptAndWhatWasDrawn) {
  const DrawReference reference{.prompt = {1, 2, 3}, .sampling = {}, .tokens = {4, 5}};
  EXPECT_EQ(reference.size(), 5U);
  EXPECT_EQ(reference.Text(2, 4), (std::vector<linkw::Token>{3, 4}));
  EXPECT_TRUE(reference.Text(5, 5).empty());
}

TEST(ReferencesTest, PrefixesOfSegments) {
  const linkw::TranscriptSegment one{.start_ms = 0, .end_ms = 5, .text = "one"};
  const linkw::TranscriptSegment two{.start_ms = 5, .end_ms = 9, .text = "two"};
  EXPECT_TRUE(IsPrefix({}, {one, two}));
  EXPECT_TRUE(IsPrefix({one, two}, {one, two}));
  EXPECT_FALSE(IsPrefix({two}, {one, two}));
  EXPECT_FALSE(IsPrefix({one, two}, {one}));
}

TEST(SoakOptionsTest, TheWorkerMustBeNamed) {
  const char* const none[] = {"soak"};
  const auto refused = ParseSoakOptions(1, none);
  ASSERT_TRUE(std::holds_alternative<Leave>(refused));
  EXPECT_EQ(std::get<Leave>(refused).code, 2);
  const char* const good[] = {"soak", "--worker", "w --engine sim", "--seconds", "7"};
  const auto parsed = ParseSoakOptions(5, good);
  ASSERT_TRUE(std::holds_alternative<SoakOptions>(parsed));
  EXPECT_EQ(std::get<SoakOptions>(parsed).seconds, 7);
}

}  // namespace
}  // namespace superfluid::stress
