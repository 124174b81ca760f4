#include "protocol/client/transcription_stream.h"

#include <future>
#include <string>
#include <variant>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/protocol/client_fixture.h"

namespace superfluid::linkw {
namespace {

using TranscriptionStreamTest = ClientTest;

TEST_F(TranscriptionStreamTest, GivesSegmentsThenTheFinalAnswer) {
  Connect();
  auto stream = Transcribe();
  worker_->Send(seq_, SegmentWithIndex(0));
  worker_->Send(seq_, SegmentWithIndex(1));
  worker_->Send(seq_, StateSyncResult{Status::kOk, "", TranscriptOf("all")});
  EXPECT_EQ(std::get<TranscribeSegment>(*stream->Next()).index, 0u);
  EXPECT_EQ(std::get<TranscribeSegment>(*stream->Next()).index, 1u);
  const auto result = std::get<StateSyncResult>(*stream->Next());
  EXPECT_EQ(std::get<TranscribeResult>(result.reply).text, "all");
  ExpectError(stream->Next().status(), Status::kFailedPrecondition, "over");
  EXPECT_TRUE(stream->Cancel().ok());
  stream.reset();
  ExpectPingWorks();  // and no cancel came before the ping
}

TEST_F(TranscriptionStreamTest, TwoAtOnceDoNotMix) {
  Connect();
  auto first = Transcribe();
  const uint64_t first_seq = seq_;
  auto second = Transcribe();
  worker_->Send(seq_, SegmentWithIndex(20));
  worker_->Send(first_seq, SegmentWithIndex(10));
  worker_->Send(seq_, StateSyncResult{Status::kOk, "", TranscriptOf("second")});
  worker_->Send(first_seq, StateSyncResult{Status::kOk, "", TranscriptOf("first")});
  EXPECT_EQ(std::get<TranscribeSegment>(*first->Next()).index, 10u);
  EXPECT_EQ(std::get<TranscribeResult>(first->Finish()->reply).text, "first");
  EXPECT_EQ(std::get<TranscribeSegment>(*second->Next()).index, 20u);
  EXPECT_EQ(std::get<TranscribeResult>(second->Finish()->reply).text, "second");
}

TEST_F(TranscriptionStreamTest, CanBeCancelledWhileAnotherThreadWaits) {
  Connect();
  auto stream = Transcribe();
  auto result = std::async(std::launch::async, [&] { return stream->Finish(); });
  EXPECT_TRUE(stream->Cancel().ok());
  EXPECT_EQ(worker_->Expect<TranscribeCancel>().request_seq, seq_);
  TranscribeResult so_far = TranscriptOf("half");
  const TranscribeSegment first = SegmentWithIndex(0);
  so_far.segments = {static_cast<const TranscriptSegment&>(first)};
  worker_->Send(seq_, StateSyncResult{Status::kCancelled, "cancelled", so_far});
  const auto answer = result.get();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, Status::kCancelled);
  EXPECT_EQ(std::get<TranscribeResult>(answer->reply), so_far);
}

TEST_F(TranscriptionStreamTest, DestroyingItCancels) {
  Connect();
  auto stream = Transcribe();
  stream.reset();
  EXPECT_EQ(worker_->Expect<TranscribeCancel>().request_seq, seq_);
  worker_->Send(seq_, SegmentWithIndex(0));
  worker_->Send(seq_, StateSyncResult{Status::kCancelled, "", TranscribeResult{}});
  ExpectPingWorks();
}

TEST_F(TranscriptionStreamTest, ARefusalIsAFinalAnswer) {
  Connect();
  auto stream = Transcribe();
  worker_->Send(seq_, Error{Status::kInvalidArgument, "language: not UTF-8", "", false});
  const auto result = stream->Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, Status::kInvalidArgument);
  EXPECT_EQ(result->message, "language: not UTF-8");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(result->reply));
}

TEST_F(TranscriptionStreamTest, AnAnswerOfAnotherKindIsAnError) {
  Connect();
  auto stream = Transcribe();
  worker_->Send(seq_, Drained{});
  ExpectError(stream->Next().status(), Status::kInternal, "DRAINED");
}

TEST_F(TranscriptionStreamTest, AWaitCanEndAndGoOn) {
  Connect();
  auto stream = Transcribe();
  ExpectError(stream->Next(absl::Now()).status(), Status::kDeadlineExceeded, "in time");
  worker_->Send(seq_, SegmentWithIndex(3));
  EXPECT_EQ(std::get<TranscribeSegment>(*stream->Next()).index, 3u);
}

TEST_F(TranscriptionStreamTest, PushesLiveAudio) {
  Connect();
  auto stream = Transcribe();
  EXPECT_TRUE(stream->PushAudio("pcm").ok());
  EXPECT_TRUE(stream->PushAudio(BufferSpan{BufId{1}, 2, 3}, true).ok());
  EXPECT_EQ(worker_->Expect<TranscribeAudio>(), (TranscribeAudio{seq_, std::string("pcm"), false}));
  EXPECT_EQ(worker_->Expect<TranscribeAudio>(),
            (TranscribeAudio{seq_, BufferSpan{BufId{1}, 2, 3}, true}));
}

TEST_F(TranscriptionStreamTest, WhatCameBeforeTheEndOfTheLinkIsNotLost) {
  Connect();
  auto stream = Transcribe();
  worker_->Send(seq_, SegmentWithIndex(0));
  worker_->Send(0, Error{Status::kEngineFailed, "the engine broke", "", true});
  worker_->Vanish();
  EXPECT_TRUE(stream->Next().ok());
  ExpectError(stream->Next().status(), Status::kLinkClosed, "ENGINE_FAILED: the engine broke");
  EXPECT_FALSE(stream->Cancel().ok());
}

TEST_F(TranscriptionStreamTest, MayOutliveItsClient) {
  Connect();
  auto stream = Transcribe();
  auto next = std::async(std::launch::async, [&] { return stream->Next(); });
  client_.reset();
  ExpectError(next.get().status(), Status::kLinkClosed, "closed here");
  stream.reset();
}

// ---- Flow control

TEST_F(TranscriptionStreamTest, AStreamThatNobodyReadsStopsTheWorkerAndLosesNothing) {
  LinkClientOptions options;
  options.reply_buffer = 4;
  Connect(options);
  auto stream = Transcribe();
  const size_t sent = worker_->FillWithSegments(seq_);
  EXPECT_GT(sent, 4u);
  auto final_answer = std::async(std::launch::async, [&] {
    worker_->Send(seq_, StateSyncResult{Status::kOk, "", TranscribeResult{}});
  });
  for (size_t i = 0; i < sent; ++i) {
    const auto event = stream->Next();
    ASSERT_TRUE(event.ok()) << event.status();
    ASSERT_EQ(std::get<TranscribeSegment>(*event).index, i);
  }
  EXPECT_TRUE(std::holds_alternative<StateSyncResult>(*stream->Next()));
  final_answer.get();
}

TEST_F(TranscriptionStreamTest, DestroyingAStreamThatNobodyReadFreesTheLink) {
  LinkClientOptions options;
  options.reply_buffer = 1;
  Connect(options);
  auto stream = Transcribe();
  worker_->FillWithSegments(seq_);
  stream.reset();
  worker_->Expect<TranscribeCancel>();
  ExpectPingWorks();
}

TEST_F(TranscriptionStreamTest, TheClientCanGoWhileAStreamIsFull) {
  LinkClientOptions options;
  options.reply_buffer = 1;
  Connect(options);
  auto stream = Transcribe();
  worker_->FillWithSegments(seq_);
  client_.reset();
  EXPECT_TRUE(stream->Next().ok()) << "the one that it held";
  ExpectError(stream->Next().status(), Status::kLinkClosed, "closed here");
}

}  // namespace
}  // namespace superfluid::linkw
