#include "actors/dispatch/request_table.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

struct Note {
  int value = 0;
};
using Table = RequestTable<Note>;

LinkLimits SmallLimits() {
  LinkLimits limits;
  limits.max_open_requests = 2;
  limits.max_transcriptions = 1;
  limits.max_releases = 1;
  return limits;
}

TEST(RequestTableTest, ARequestOpensOnceAndEndsOnce) {
  Table table{LinkLimits{}};
  EXPECT_TRUE(table.Open(7, {}, Note{.value = 1}));
  EXPECT_FALSE(table.Open(7, {}, Note{.value = 2}));
  EXPECT_EQ(table.Find(7)->details.value, 1);
  EXPECT_EQ(table.Finish(7)->details.value, 1);
  EXPECT_FALSE(table.Finish(7).has_value());
  EXPECT_EQ(table.Find(7), nullptr);
}

TEST(RequestTableTest, AnAnsweredRequestTakesNoPlace) {
  Table table{SmallLimits()};
  table.Open(1, {});
  table.Open(2, {});
  EXPECT_FALSE(table.HasRoom());
  table.MarkAnswered(1);
  table.MarkAnswered(1);
  EXPECT_EQ(table.unanswered(), 1u);
  EXPECT_TRUE(table.HasRoom());
  table.Finish(1);
  EXPECT_EQ(table.unanswered(), 1u);
}

TEST(RequestTableTest, AnsweredRequestsThatStayAreBoundedToo) {
  Table table{SmallLimits()};
  for (uint64_t seq = 1; seq <= 4; ++seq) {
    ASSERT_TRUE(table.HasRoom()) << seq;
    table.Open(seq, {});
    table.MarkAnswered(seq);
  }
  EXPECT_FALSE(table.HasRoom());
  table.Finish(3);
  EXPECT_TRUE(table.HasRoom());
}

TEST(RequestTableTest, ARequestThatOthersAnsweredTakesNoPlace) {
  Table table{SmallLimits()};
  const auto progress = std::make_shared<EngineProgress>();
  const auto token = std::make_shared<RequestToken>(progress);
  table.Open(1, {.kind = RequestKind::kTranscription, .token = token});
  table.Open(2, {.token = std::make_shared<RequestToken>(progress)});
  EXPECT_FALSE(table.HasRoom());
  EXPECT_FALSE(table.HasRoomForTranscription());
  token->MarkAnswered();
  EXPECT_TRUE(table.HasRoomForTranscription());
  EXPECT_TRUE(table.HasRoom());
  EXPECT_EQ(table.unanswered(), 1u);
  EXPECT_EQ(table.MarkForDrain(), 1u);
  table.Finish(1);
  EXPECT_EQ(table.unanswered(), 1u);
}

TEST(RequestTableTest, ADrainCountsNoRequestThatOthersAnswered) {
  Table table{LinkLimits{}};
  const auto token = std::make_shared<RequestToken>(std::make_shared<EngineProgress>());
  table.Open(1, {.kind = RequestKind::kTick, .token = token});
  token->MarkAnswered();
  EXPECT_EQ(table.MarkForDrain(), 0u);
}

TEST(RequestTableTest, TranscriptionsHaveALimitOfTheirOwn) {
  Table table{SmallLimits()};
  table.Open(1, {.kind = RequestKind::kTick});
  EXPECT_TRUE(table.HasRoomForTranscription());
  table.Open(2, {.kind = RequestKind::kTranscription});
  EXPECT_FALSE(table.HasRoomForTranscription());
  table.MarkAnswered(2);
  EXPECT_TRUE(table.HasRoomForTranscription());
}

TEST(RequestTableTest, ReleasesTakeNoPlaceButAreCounted) {
  Table table{SmallLimits()};
  for (uint64_t seq = 1; seq <= 8; ++seq) table.Open(seq, {.kind = RequestKind::kRelease});
  EXPECT_EQ(table.unanswered(), 0u);
  EXPECT_TRUE(table.HasRoom());
  EXPECT_FALSE(table.HasRoomForReleases());
  for (uint64_t seq = 2; seq <= 8; ++seq) table.Finish(seq);
  EXPECT_TRUE(table.HasRoomForReleases());
}

TEST(RequestTableTest, ADeadlineIsKeptAsLongAsItsRequest) {
  Table table{LinkLimits{}};
  table.Open(1, {.deadline_ns = 100});
  table.Open(2, {.deadline_ns = 50});
  table.Open(3, {});
  EXPECT_EQ(table.NextAlarm(), 50);
  table.Finish(2);
  EXPECT_TRUE(table.TakeOverdue(60).empty());
  EXPECT_EQ(table.NextAlarm(), 100);
  EXPECT_EQ(table.TakeOverdue(100), std::vector<uint64_t>{1});
  EXPECT_TRUE(table.TakeOverdue(200).empty()) << "it was taken once";
  EXPECT_NE(table.Find(1), nullptr) << "its owner ends it";
}

TEST(RequestTableTest, ADrainCountsWhatWaitsForAnAnswer) {
  Table table{LinkLimits{}};
  table.Open(1, {});
  table.Open(2, {.has_answer = false});
  table.Open(3, {});
  table.MarkAnswered(3);
  EXPECT_EQ(table.MarkForDrain(), 1u);
  EXPECT_EQ(table.size(), 3u) << "it waits for all of them";
  EXPECT_TRUE(table.Finish(1)->in_drain);
  EXPECT_FALSE(table.Finish(2)->in_drain);
  EXPECT_FALSE(table.Finish(3)->in_drain) << "it was answered before";
}

TEST(RequestTableTest, WhatIsOpenIsCountedForAllToSee) {
  const auto progress = std::make_shared<EngineProgress>();
  {
    Table table(LinkLimits{}, progress);
    table.Open(1, {.kind = RequestKind::kOp});
    table.Open(2, {.kind = RequestKind::kTick});
    table.Open(3, {.kind = RequestKind::kRelease, .has_answer = false});
    EXPECT_EQ(progress->open_requests(), 2u);
    table.MarkAnswered(1);
    table.MarkAnswered(1);
    EXPECT_EQ(progress->open_requests(), 1u);
    table.Finish(1);
    table.Finish(3);
    EXPECT_EQ(progress->open_requests(), 1u);
    table.Open(4, {});
  }
  EXPECT_EQ(progress->open_requests(), 0u) << "the link is gone";
}

}  // namespace
}  // namespace superfluid
