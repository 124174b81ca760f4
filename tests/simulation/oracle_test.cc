#include "tests/simulation/oracle.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace superfluid::simulation {
namespace {

using linkw::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

class OracleTest : public testing::Test {
 protected:
  OracleTest() {
    link_.OnSent(1, linkw::Hello{.role = linkw::Role::kDriver}, 0);
    Answer(1, linkw::HelloAck{});
  }

  void Answer(uint64_t correlation, const linkw::WorkerMessage& message) {
    link_.OnReceived({.seq = ++seq_, .correlation = correlation}, message, 0);
  }
  static linkw::StateSyncRequest Speech(bool stream = true) {
    linkw::Transcribe transcribe;
    transcribe.audio = linkw::AudioLive{};
    transcribe.stream = stream;
    return {transcribe};
  }
  static linkw::StateSyncResult Transcript(Status status, size_t segments) {
    linkw::TranscribeResult result;
    result.segments.resize(segments);
    return {.status = status, .message = {}, .reply = result};
  }

  Oracle oracle_;
  LinkOracle link_{oracle_, 1, true};
  uint64_t seq_ = 0;
};

TEST_F(OracleTest, AcceptsAnOrdinaryExchange) {
  link_.OnSent(2, linkw::Ping{}, 0);
  Answer(2, linkw::Pong{});
  link_.OnSent(3, Speech(), 0);
  Answer(3, linkw::TranscribeSegment{});
  Answer(3, Transcript(Status::kOk, 1));
  link_.AtRest(kSecond);
  link_.AtEnd();
  EXPECT_THAT(oracle_.violations(), IsEmpty());
}

TEST_F(OracleTest, SeesASecondAnswer) {
  link_.OnSent(2, linkw::Ping{}, 0);
  Answer(2, linkw::Pong{});
  Answer(2, linkw::Pong{});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ALWAYS-1")));
}

TEST_F(OracleTest, SeesAMissingAnswer) {
  link_.OnSent(2, linkw::StateSyncRequest{linkw::CreateSequence{}}, 0);
  link_.AtEnd();
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ALWAYS-1")));
}

TEST_F(OracleTest, SeesAnAnswerToNothing) {
  Answer(77, linkw::Pong{});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("FRAME-6")));
}

TEST_F(OracleTest, SeesAGapInTheFrames) {
  ++seq_;
  link_.OnSent(2, linkw::Ping{}, 0);
  Answer(2, linkw::Pong{});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("FRAME-5")));
}

TEST_F(OracleTest, SeesAPingThatWaits) {
  link_.OnSent(2, linkw::Ping{}, 0);
  link_.AtRest(0);
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("PING-1")));
}

TEST_F(OracleTest, SeesATranscriptionThatOutlivesItsCancel) {
  link_.OnSent(2, Speech(), kSecond);
  link_.OnSent(3, linkw::TranscribeCancel{2}, kSecond);
  link_.AtRest(kSecond + kSecond / 100);
  EXPECT_THAT(oracle_.violations(), IsEmpty());
  link_.AtRest(2 * kSecond);
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ALWAYS-7")));
}

TEST_F(OracleTest, SeesATranscriptionThatOutlivesItsStopWord) {
  linkw::StateSyncRequest speech = Speech();
  std::get<linkw::Transcribe>(speech.call).control_slot = 3;
  link_.OnSent(2, speech, 0);
  link_.OnStopWord(/*slot=*/3, /*seq=*/2, kSecond, /*seen=*/true);
  link_.AtRest(kSecond + kSecond / 100);
  EXPECT_THAT(oracle_.violations(), IsEmpty());
  link_.AtRest(2 * kSecond);
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ALWAYS-7")));
}

TEST_F(OracleTest, AcceptsThatAStopWordIsTakenBackOrMeansAnother) {
  linkw::StateSyncRequest speech = Speech();
  std::get<linkw::Transcribe>(speech.call).control_slot = 3;
  link_.OnSent(2, speech, 0);
  link_.OnStopWord(3, 2, 0, true);
  link_.OnStopWord(3, 0, 0, true);
  link_.OnStopWord(4, 2, 0, true);
  link_.AtRest(2 * kSecond);
  EXPECT_THAT(oracle_.violations(), IsEmpty());
}

TEST_F(OracleTest, SeesWhatIsCancelledThoughNobodyAsked) {
  link_.OnSent(2, linkw::TickSubmit{}, 0);
  Answer(2, linkw::TickResult{.status = Status::kCancelled, .message = {}, .events = {}});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("TICK-23")));
  link_.OnSent(3, Speech(), 0);
  Answer(3, Transcript(Status::kCancelled, 0));
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("TICK-23"), HasSubstr("ALWAYS-7")));
}

TEST_F(OracleTest, SeesAQueueThatGrowsWithoutBound) {
  constexpr uint64_t kMany = 700;
  for (uint64_t seq = 2; seq < 2 + kMany; ++seq) link_.OnSent(seq, linkw::Ping{}, 0);
  link_.CheckHeld(/*taken=*/400, /*in_stream=*/100);
  link_.CheckHeld(1 + kMany, 200);
  EXPECT_THAT(oracle_.violations(), IsEmpty());
  link_.CheckHeld(1 + kMany, 100);
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ALWAYS-4")));
}

TEST_F(OracleTest, SeesALostSegment) {
  link_.OnSent(2, Speech(), 0);
  Answer(2, Transcript(Status::kOk, 1));
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("STT-2")));
}

TEST_F(OracleTest, SeesADoneThatWasNotAccepted) {
  link_.OnSent(2, linkw::StateOpSubmit{linkw::Restore{}}, 0);
  Answer(2, linkw::StateOpDone{.op_handle = linkw::OpHandle{4}});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("DONE before ACCEPTED")));
}

TEST_F(OracleTest, SeesADrainThatIsOverTooEarly) {
  link_.OnSent(2, linkw::BufAlloc{.buf_id = linkw::BufId{1}, .len = 1}, 0);
  link_.OnSent(3, linkw::DrainRequest{}, 0);
  Answer(3, linkw::Drained{});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("DRAIN-2")));
}

TEST_F(OracleTest, SeesALinkThatEndsWithoutACause) {
  Answer(0,
         linkw::Error{.status = Status::kInternal, .message = "oops", .detail = {}, .fatal = true});
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ERR-1")));
}

TEST_F(OracleTest, SeesTwoDrivers) {
  LinkOracle other(oracle_, 2, true);
  other.OnSent(1, linkw::Hello{.role = linkw::Role::kDriver}, 0);
  other.OnReceived({.seq = 1, .correlation = 1}, linkw::HelloAck{}, 0);
  EXPECT_THAT(oracle_.violations(), ElementsAre(HasSubstr("ROLE-1")));
}

}  // namespace
}  // namespace superfluid::simulation
