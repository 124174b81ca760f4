#include "tools/ctl/base/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/ctl/sample_transcript.h"
#include "tools/ctl/speech/transcribe_report.h"

namespace superfluid::ctl {
namespace {

using linkw::MakeStatus;
using linkw::Status;
using testing::HasSubstr;

constexpr char kSocket[] = "/run/w.sock";

TEST(FailureLineTest, IsOneLine) {
  EXPECT_EQ(FailureLine({.code = ExitCode::kFailed, .what = "a\nb\x1b", .advice = "do\nthis"}),
            "superfluidctl: a b; do this\n");
  EXPECT_EQ(FailureLine({.code = ExitCode::kFailed, .what = "a", .advice = ""}),
            "superfluidctl: a\n");
  EXPECT_EQ(FailureLine({.code = ExitCode::kFailed, .what = "is it?", .advice = "try"}),
            "superfluidctl: is it? try\n");
}

TEST(ConnectFailureTest, SaysHowToStartAWorkerWhenNobodyListens) {
  for (const absl::Status& status :
       {absl::NotFoundError("there is no socket"), absl::UnavailableError("nobody listens")}) {
    const Failure failure = ConnectFailure(status, kSocket);
    EXPECT_EQ(failure.code, ExitCode::kNoLink);
    EXPECT_THAT(failure.what, HasSubstr(std::string(status.message())));
    EXPECT_EQ(failure.advice,
              "start one with: superfluid_worker --engine NAME --listen /run/w.sock");
  }
}

TEST(ConnectFailureTest, TellsAnotherDriverFromNobody) {
  const Failure failure = ConnectFailure(MakeStatus(Status::kBusy, "driven by x"), kSocket);
  EXPECT_EQ(failure.code, ExitCode::kFailed);
  EXPECT_THAT(failure.advice, HasSubstr("one client at a time"));
}

TEST(ConnectFailureTest, HearsTheLastWordsOfALinkThatWasClosed) {
  const auto closed = [](Status last_words) {
    return linkw::LinkClosedAfter(last_words, "the worker closed the link: BUSY: any text");
  };
  const Failure busy = ConnectFailure(closed(Status::kBusy), kSocket);
  EXPECT_EQ(busy.code, ExitCode::kFailed);
  EXPECT_THAT(busy.advice, HasSubstr("--wait"));
  EXPECT_TRUE(IsAnotherDriver(closed(Status::kBusy)));
  const Failure draining = ConnectFailure(closed(Status::kDraining), kSocket);
  EXPECT_EQ(draining.code, ExitCode::kFailed);
  EXPECT_THAT(draining.advice, HasSubstr("takes no new work"));
  EXPECT_THAT(ConnectFailure(closed(Status::kInternal), kSocket).advice,
              HasSubstr("still running?"));
  EXPECT_FALSE(IsAnotherDriver(closed(Status::kInternal)));
  EXPECT_FALSE(IsAnotherDriver(MakeStatus(Status::kLinkClosed, "the worker closed the link: BUSY")))
      << "texts do not count";
  EXPECT_FALSE(IsAnotherDriver(absl::UnavailableError("nobody listens")));
}

TEST(CallFailureTest, HearsTheLastWordsOfALinkThatWasClosed) {
  const Failure draining = CallFailure("x", linkw::LinkClosedAfter(Status::kDraining, "closed"));
  EXPECT_EQ(draining.code, ExitCode::kNoLink);
  EXPECT_THAT(draining.what, HasSubstr("LINK_CLOSED: closed"));
  EXPECT_THAT(draining.advice, HasSubstr("takes no new work"));
  EXPECT_THAT(CallFailure("x", linkw::LinkClosedAfter(Status::kProtocolError, "closed")).advice,
              HasSubstr("still running?"));
}

TEST(ConnectFailureTest, ExplainsWhatTheWorkerRefused) {
  const Failure version = ConnectFailure(MakeStatus(Status::kVersionMismatch, "9"), kSocket);
  EXPECT_EQ(version.code, ExitCode::kFailed);
  EXPECT_THAT(version.advice, HasSubstr("came with the worker"));
  const Failure user = ConnectFailure(MakeStatus(Status::kPermissionDenied, "uid"), kSocket);
  EXPECT_EQ(user.code, ExitCode::kFailed);
  EXPECT_THAT(user.advice, HasSubstr("--allow-uid"));
  const Failure draining = ConnectFailure(MakeStatus(Status::kDraining, ""), kSocket);
  EXPECT_EQ(draining.code, ExitCode::kFailed);
  EXPECT_THAT(draining.advice, HasSubstr("takes no new work"));
}

TEST(ConnectFailureTest, CountsASilentOrStrangePeerAsNoLink) {
  EXPECT_EQ(ConnectFailure(absl::DeadlineExceededError("slow"), kSocket).code, ExitCode::kNoLink);
  const Failure closed = ConnectFailure(MakeStatus(Status::kLinkClosed, "gone"), kSocket);
  EXPECT_EQ(closed.code, ExitCode::kNoLink);
  EXPECT_THAT(closed.advice, HasSubstr("log"));
}

TEST(RequestFailureTest, NamesTheStatusAndChoosesTheCode) {
  const Failure failure = RequestFailure("x.wav", Status::kNotFound, "no such file");
  EXPECT_EQ(failure.what, "x.wav: NOT_FOUND: no such file");
  EXPECT_EQ(failure.code, ExitCode::kFailed);
  EXPECT_THAT(failure.advice, HasSubstr("--inline"));
  EXPECT_EQ(RequestFailure("x", Status::kDeadlineExceeded, "").code, ExitCode::kDeadline);
  EXPECT_EQ(RequestFailure("x", Status::kLinkClosed, "").code, ExitCode::kNoLink);
  EXPECT_EQ(RequestFailure("x", Status::kBusy, "").code, ExitCode::kFailed);
  EXPECT_EQ(RequestFailure("x", Status::kCancelled, "").code, ExitCode::kFailed);
}

TEST(RequestFailureTest, SaysTheStatusOnce) {
  EXPECT_EQ(RequestFailure("x", Status::kCancelled, "cancelled: the worker is draining").what,
            "x: CANCELLED: the worker is draining");
  EXPECT_EQ(RequestFailure("x", Status::kDeadlineExceeded, "deadline exceeded: y").what,
            "x: DEADLINE_EXCEEDED: y");
  EXPECT_EQ(RequestFailure("x", Status::kCancelled, "cancelled").what, "x: CANCELLED: cancelled");
}

TEST(TranscribeExitCodeTest, FollowsTheReasonThenTheStatus) {
  EXPECT_EQ(TranscribeExitCode(StopReason::kNone, Status::kOk), ExitCode::kOk);
  EXPECT_EQ(TranscribeExitCode(StopReason::kNone, Status::kInvalidArgument), ExitCode::kFailed);
  EXPECT_EQ(TranscribeExitCode(StopReason::kNone, Status::kCancelled), ExitCode::kFailed);
  EXPECT_EQ(TranscribeExitCode(StopReason::kNone, Status::kDeadlineExceeded), ExitCode::kDeadline);
  EXPECT_EQ(TranscribeExitCode(StopReason::kInterrupt, Status::kCancelled), ExitCode::kInterrupted);
  EXPECT_EQ(TranscribeExitCode(StopReason::kInterrupt, Status::kLinkClosed),
            ExitCode::kInterrupted);
  EXPECT_EQ(TranscribeExitCode(StopReason::kTerminate, Status::kOk), ExitCode::kTerminated);
  EXPECT_EQ(TranscribeExitCode(StopReason::kOutputClosed, Status::kCancelled),
            ExitCode::kOutputClosed);
  EXPECT_EQ(TranscribeExitCode(StopReason::kLocalFailure, Status::kOk), ExitCode::kFailed);
  EXPECT_EQ(TranscribeExitCode(StopReason::kTimer, Status::kCancelled), ExitCode::kCancelled);
  EXPECT_EQ(TranscribeExitCode(StopReason::kTimer, Status::kOk), ExitCode::kOk);
  EXPECT_EQ(TranscribeExitCode(StopReason::kTimer, Status::kLinkClosed), ExitCode::kNoLink);
}

TEST(ClosingLineTest, GivesBothFiguresOfACancel) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = Status::kCancelled;
  outcome.figures.cancel = absl::Microseconds(12'340);
  outcome.result.stats.cancel_to_stop_us = 8100;
  EXPECT_EQ(ClosingLine(StopReason::kInterrupt, outcome),
            "cancelled: the worker stopped in 12.3 ms (8.10 ms by its own clock, 0 engine steps "
            "after the cancel)\n");
}

TEST(ClosingLineTest, SaysSoWhenTheCancelCameTooLate) {
  EXPECT_EQ(ClosingLine(StopReason::kTimer, MakeOutcome()),
            "not cancelled: the worker had finished before the cancel reached it\n");
}

TEST(ClosingLineTest, SaysWhatTheWorkerRemarkedOnTheAudio) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.message = "\"talk.mp3\": it is damaged in 1 place";
  EXPECT_EQ(ClosingLine(StopReason::kNone, outcome),
            "note: \"talk.mp3\": it is damaged in 1 place\n");
}

TEST(ClosingLineTest, IsSilentAboutSuccessAndAboutAReaderThatLeft) {
  EXPECT_EQ(ClosingLine(StopReason::kNone, MakeOutcome()), "");
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = Status::kCancelled;
  EXPECT_EQ(ClosingLine(StopReason::kOutputClosed, outcome), "");
}

TEST(ClosingLineTest, DoesNotCallSomebodyElsesCancelOurs) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = Status::kCancelled;
  outcome.message = "the worker is draining";
  EXPECT_EQ(ClosingLine(StopReason::kNone, outcome),
            "superfluidctl: talk.flac: CANCELLED: the worker is draining\n");
}

TEST(SummaryLineTest, SaysWhatIsIncomplete) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = Status::kCancelled;
  outcome.result.segments.resize(1);
  EXPECT_EQ(SummaryLine("talk.srt", outcome),
            "talk.srt: 1 segment (incomplete) from 00:00:03.450 of audio in 2.00 s\n");
}

TEST(SummaryLineTest, CountsWhatWentIntoTheFile) {
  EXPECT_EQ(SummaryLine("talk.srt", MakeOutcome()),
            "talk.srt: 2 segments from 00:00:10.000 of audio in 2.00 s, factor 0.200 (5.0 times "
            "faster than the audio)\n");
}

}  // namespace
}  // namespace superfluid::ctl
