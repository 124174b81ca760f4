#include "protocol/client/link_client.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/protocol/client_fixture.h"

namespace superfluid::linkw {
namespace {

// ---- Without waiting

// Whoever polls is told when there is something to take, and when nothing more will come.
TEST_F(ClientTest, TellsOfAnswersAndOfTheEnd) {
  std::mutex mutex;
  std::condition_variable changed;
  int told = 0;
  LinkClientOptions options;
  options.on_activity = [&] {
    const std::lock_guard lock(mutex);
    ++told;
    changed.notify_all();
  };
  const auto wait_for = [&](int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30), [&] { return told >= count; });
  };
  Connect(options);
  ASSERT_TRUE(wait_for(1)) << "the answer to HELLO is one";
  auto stream = Transcribe();
  worker_->Send(seq_, SegmentWithIndex(0));
  ASSERT_TRUE(wait_for(2));
  EXPECT_TRUE(stream->Next(Deadline::After(absl::ZeroDuration())).ok());
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(stream->Next(Deadline::After(absl::ZeroDuration())).status()));
  worker_->Vanish();
  ASSERT_TRUE(wait_for(3));
  EXPECT_EQ(FromAbsl(client_->link_status()), Status::kLinkClosed);
  stream.reset();
  client_.reset();
}

// ---- Handshake

TEST_F(ClientTest, IntroducesItselfAndKeepsWhatTheWorkerSays) {
  LinkClientOptions options;
  options.role = Role::kObserver;
  options.client_name = "tester";
  options.features = {"one"};
  auto client = StartAdopt(options);
  uint64_t seq = 0;
  const auto hello = worker_->Expect<Hello>(&seq);
  EXPECT_EQ(hello, (Hello{{8, 8}, "tester", Role::kObserver, {"one"}}));
  EXPECT_EQ(seq, 1u);
  worker_->Send(seq, SampleHelloAck());
  const auto connected = client.get();
  ASSERT_TRUE(connected.ok()) << connected.status();
  EXPECT_EQ((*connected)->hello_ack(), SampleHelloAck());
  EXPECT_TRUE((*connected)->link_status().ok());
}

TEST_F(ClientTest, ARefusedHelloGivesTheWorkersReason) {
  auto client = StartAdopt();
  uint64_t seq = 0;
  worker_->Expect<Hello>(&seq);
  worker_->Send(seq, Error{Status::kBusy, "there is a driver", "", true});
  worker_->Vanish();
  ExpectError(client.get().status(), Status::kBusy, "there is a driver");
}

TEST_F(ClientTest, ARefusalBeforeHelloIsReadGivesTheWorkersReasonToo) {
  auto client = StartAdopt();
  worker_->Expect<Hello>();
  worker_->Send(0, Error{Status::kBusy, "there are too many links", "", true});
  worker_->Vanish();
  ExpectError(client.get().status(), Status::kBusy, "there are too many links");
}

TEST_F(ClientTest, AWorkerThatSaysNothingTimesOut) {
  LinkClientOptions options;
  options.connect_timeout = absl::Milliseconds(20);
  auto client = StartAdopt(options);
  worker_->Expect<Hello>();
  EXPECT_TRUE(absl::IsDeadlineExceeded(client.get().status()));
  EXPECT_TRUE(worker_->ReadsEnd()) << "the client must close what it gave up";
}

TEST_F(ClientTest, RefusesAVersionThatItDoesNotSpeak) {
  auto client = StartAdopt();
  uint64_t seq = 0;
  worker_->Expect<Hello>(&seq);
  HelloAck ack = SampleHelloAck();
  ack.chosen_version = 9;
  worker_->Send(seq, ack);
  ExpectError(client.get().status(), Status::kVersionMismatch, "version 9");
}

TEST_F(ClientTest, AnAnswerToHelloOfAnotherTypeIsAnError) {
  auto client = StartAdopt();
  uint64_t seq = 0;
  worker_->Expect<Hello>(&seq);
  worker_->Send(seq, Pong{});
  ExpectError(client.get().status(), Status::kInternal, "PONG");
}

TEST_F(ClientTest, ADescriptorThatIsNoSocketIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(LinkClient::Adopt(-1, -1).status()));
}

// ---- Calls

TEST_F(ClientTest, AnswersFindTheirCallsInAnyOrder) {
  Connect();
  auto first = std::async(std::launch::async, [this] { return client_->Ping(); });
  uint64_t first_seq = 0;
  worker_->Expect<Ping>(&first_seq);
  auto second = std::async(std::launch::async, [this] { return client_->Ping(); });
  uint64_t second_seq = 0;
  worker_->Expect<Ping>(&second_seq);
  worker_->Send(second_seq, PongOf(2));
  worker_->Send(first_seq, PongOf(1));
  EXPECT_EQ(first.get()->queue_depth, 1u);
  EXPECT_EQ(second.get()->queue_depth, 2u);
}

TEST_F(ClientTest, AnErrorFrameIsTheCallsError) {
  Connect();
  auto call =
      std::async(std::launch::async, [this] { return client_->Call(FreeSequence{SequenceId{5}}); });
  uint64_t seq = 0;
  EXPECT_EQ(worker_->ExpectCall<FreeSequence>(&seq).sequence, SequenceId{5});
  worker_->Send(seq, Error{Status::kUnknownHandle, "no sequence 5", "type 0x0050", false});
  ExpectError(call.get().status(), Status::kUnknownHandle, "no sequence 5 (type 0x0050)");
  ExpectPingWorks();
}

TEST_F(ClientTest, AResultThatIsNotOkIsTheCallsError) {
  Connect();
  auto call = std::async(std::launch::async, [this] { return client_->Call(Embed{{1}}); });
  uint64_t seq = 0;
  worker_->ExpectCall<Embed>(&seq);
  worker_->Send(seq, StateSyncResult{Status::kUnsupported, "no embeddings", {}});
  ExpectError(call.get().status(), Status::kUnsupported, "no embeddings");
}

TEST_F(ClientTest, ACallGivesItsReply) {
  Connect();
  auto call = std::async(std::launch::async, [this] { return client_->Call(Capabilities{}); });
  uint64_t seq = 0;
  worker_->ExpectCall<Capabilities>(&seq);
  worker_->Send(seq, StateSyncResult{Status::kOk, "", CapabilitiesResult{"{}"}});
  const auto reply = call.get();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(std::get<CapabilitiesResult>(*reply).json, "{}");
}

TEST_F(ClientTest, DrainWaitsForDrained) {
  Connect();
  auto drain = std::async(std::launch::async, [this] {
    return client_->Drain(DrainRequest{true, 0});
  });
  uint64_t seq = 0;
  EXPECT_TRUE(worker_->Expect<DrainRequest>(&seq).cancel_transcriptions);
  worker_->Send(seq, Drained{1, 2});
  EXPECT_EQ(*drain.get(), (Drained{1, 2}));
}

TEST_F(ClientTest, ALateAnswerIsDropped) {
  Connect();
  ExpectError(client_->Request(Ping{}, absl::Milliseconds(10)).status(), Status::kDeadlineExceeded,
              "in time");
  uint64_t seq = 0;
  worker_->Expect<Ping>(&seq);
  worker_->Send(seq, PongOf(99));
  ExpectPingWorks();
}

TEST_F(ClientTest, AnAnswerThatBreaksARuleConcernsItsCallOnly) {
  Connect();
  auto call = std::async(std::launch::async, [this] { return client_->Call(CreateSequence{}); });
  uint64_t seq = 0;
  worker_->ExpectCall<CreateSequence>(&seq);
  worker_->SendFrame(0x0051, seq, "");  // OK, but no reply
  ExpectError(call.get().status(), Status::kInvalidArgument, "StateSyncRes.reply");
  ExpectPingWorks();
}

TEST_F(ClientTest, AMessageThatTheWorkerWouldRefuseIsNotSent) {
  HelloAck ack = SampleHelloAck();
  ack.limits.max_frame = 1000;
  Connect({}, ack);
  ExpectError(client_->Call(CreateGrammar{std::string(1000, ' ')}).status(), Status::kTooLarge,
              "STATE_SYNC_REQ");
  ExpectPingWorks();
}

TEST_F(ClientTest, ManyThreadsSendWholeFramesInOrder) {
  Connect();
  constexpr int pingers = 8;
  constexpr int pings = 100;
  std::vector<std::thread> threads;
  threads.reserve(pingers);
  for (int i = 0; i < pingers; ++i) {
    threads.emplace_back([this] {
      for (int n = 0; n < pings; ++n) {
        const auto pong = client_->Ping();
        EXPECT_TRUE(pong.ok()) << pong.status();
      }
    });
  }
  for (int n = 0; n < pingers * pings; ++n) {
    uint64_t seq = 0;
    worker_->Expect<Ping>(&seq);  // the decoder checks that seqs are consecutive
    worker_->Send(seq, Pong{});
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ClientTest, StartGivesEveryAnswerOfARequest) {
  Connect();
  TickSubmit tick;
  tick.plan.tick_id = 5;
  auto answers = client_->Start(tick);
  ASSERT_TRUE(answers.ok()) << answers.status();
  uint64_t seq = 0;
  worker_->Expect<TickSubmit>(&seq);
  EXPECT_EQ((*answers)->request_seq(), seq);
  worker_->Send(seq, TickEmit{5, LaneTag{}, {}, 1});
  worker_->Send(seq, TickResult{});
  EXPECT_EQ(std::get<TickEmit>(*(*answers)->Next()).index, 1u);
  EXPECT_TRUE(std::holds_alternative<TickResult>(*(*answers)->Next()));
  EXPECT_TRUE(absl::IsDeadlineExceeded((*answers)->Next(absl::Now()).status()));
}

// ---- What answers nothing

TEST_F(ClientTest, WhatAnswersNoRequestGoesToTheCallback) {
  std::mutex mutex;
  std::vector<WorkerMessage> messages;
  LinkClientOptions options;
  options.on_unsolicited = [&](const WorkerMessage& message) {
    const std::lock_guard lock(mutex);
    messages.push_back(message);
  };
  Connect(options);
  worker_->Send(0, Telemetry{{{"ticks", 7}}});
  worker_->SendFrame(0xfabc, 0, "unknown and droppable");
  worker_->SendFrame(0x7abc, 0, "unknown and required");
  worker_->SendFrame(0x0080, 0, "");  // a ping, which is not for daemons
  ExpectPingWorks();                  // all of it was read by now
  const std::lock_guard lock(mutex);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(std::get<Telemetry>(messages[0]).counters[0].value, 7u);
}

// ---- The end of a link

TEST_F(ClientTest, EveryCallEndsWhenTheWorkerVanishes) {
  Connect();
  auto ping = std::async(std::launch::async, [this] { return client_->Ping(); });
  auto drain = std::async(std::launch::async, [this] { return client_->Drain({}); });
  worker_->Read();
  worker_->Read();
  worker_->Vanish();
  ExpectError(ping.get().status(), Status::kLinkClosed, "the worker closed the link");
  ExpectError(drain.get().status(), Status::kLinkClosed, "the worker closed the link");
  ExpectError(client_->Ping().status(), Status::kLinkClosed, "the worker closed the link");
  ExpectError(client_->link_status(), Status::kLinkClosed, "the worker closed the link");
  EXPECT_TRUE(absl::IsUnavailable(client_->link_status()));
}

TEST_F(ClientTest, TheWorkersLastWordsAreInEveryError) {
  Connect();
  auto ping = std::async(std::launch::async, [this] { return client_->Ping(); });
  worker_->Expect<Ping>();
  worker_->Send(0, Error{Status::kProtocolError, "bad magic", "at byte 77", true});
  worker_->Vanish();
  const absl::Status closed = ping.get().status();
  ExpectError(closed, Status::kLinkClosed, "PROTOCOL_ERROR: bad magic (at byte 77)");
  EXPECT_EQ(LastWords(closed), Status::kProtocolError);
  ExpectError(client_->Ping().status(), Status::kLinkClosed, "bad magic (at byte 77)");
}

TEST_F(ClientTest, ABadFrameEndsTheLink) {
  Connect();
  worker_->SendBytes(std::string(32, 'x'));
  EXPECT_TRUE(worker_->ReadsEnd());
  ExpectError(client_->Ping().status(), Status::kLinkClosed, "bad magic");
}

TEST_F(ClientTest, AnUndecodablePayloadEndsTheLink) {
  Connect();
  worker_->SendFrame(0x0081, 0, "\x08");
  EXPECT_TRUE(worker_->ReadsEnd());
  ExpectError(client_->Ping().status(), Status::kLinkClosed, "Pong");
}

TEST_F(ClientTest, SaysSoIfTheLinkEndsInsideAFrame) {
  Connect();
  worker_->SendBytes("SFLW");
  worker_->Vanish();
  const auto pong = client_->Ping();
  ExpectError(pong.status(), Status::kLinkClosed, "inside a frame");
}

TEST_F(ClientTest, AWorkerThatTakesNothingEndsTheLink) {
  LinkClientOptions options;
  options.call_timeout = absl::Milliseconds(50);
  Connect(options);
  absl::Status status;
  while (status.ok()) {
    status = client_->Send(TranscribeAudio{1, std::string(100000, 'p'), false}).status();
  }
  ExpectError(status, Status::kLinkClosed, "takes no more messages");
  ExpectError(client_->Ping().status(), Status::kLinkClosed, "takes no more messages");
}

TEST_F(ClientTest, DestroyingTheClientClosesTheLink) {
  Connect();
  client_.reset();
  EXPECT_TRUE(worker_->ReadsEnd());
}

}  // namespace
}  // namespace superfluid::linkw
