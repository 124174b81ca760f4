// State ops through a whole worker, in virtual time: order, exactly-once, refusals.

#include <cstring>
#include <map>
#include <variant>
#include <vector>

#include "actors/runtime/caf_compat.h"
#include "protocol/codec/state_envelope.h"
#include "tests/actors/generation_fixture.h"

namespace superfluid {
namespace {

using linkw::OpState;
using linkw::Status;

class StateOpsTest : public GenerationFixture {
 protected:
  StateOpsTest() { engine_options = {{"op_us", "20000"}}; }  // an op takes 20 ms

  // Submits a snapshot of all of `sequence` into a buffer of its own; returns its seq.
  uint64_t SubmitSnapshot(Peer& peer, uint64_t buffer) {
    return peer.Send(linkw::StateOpSubmit{SnapshotOf(peer, sequence_, 0, prompt_.size(), buffer)});
  }
  // The worker takes a time for an op that no test waits for in one go.
  void RunOps() { Advance(absl::Milliseconds(100)); }

  const std::vector<uint32_t> prompt_ = std::vector<uint32_t>(48, 5);
  linkw::SequenceId sequence_{};
};

TEST_F(StateOpsTest, ARestoredSequenceDrawsTheSame) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const auto copy = Call<linkw::CreateSequenceResult>(peer, linkw::CreateSequence{}).sequence;
  for (uint32_t space = 0; space < 2; ++space) {
    const linkw::StateOpDone saved =
        RunOp(peer, SnapshotOf(peer, sequence_, space, prompt_.size(), 10 + space));
    ASSERT_EQ(saved.state, OpState::kDone) << saved.message;
    EXPECT_GT(saved.bytes_moved, 0u);
    const linkw::StateOpDone restored = RunOp(
        peer, linkw::Restore{copy, linkw::SpaceId{space}, linkw::BufId{10 + uint64_t{space}}});
    ASSERT_EQ(restored.state, OpState::kDone) << restored.message;
  }
  EXPECT_EQ(Decode(peer, copy, 20), Decode(peer, sequence_, 20));
}

TEST_F(StateOpsTest, ADemotedSequenceWaitsForItsPromote) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const auto twin = Call<linkw::ForkResult>(peer, linkw::Fork{.parent = sequence_}).child;
  const linkw::Snapshot sized = SnapshotOf(peer, sequence_, 0, prompt_.size(), 1);
  const linkw::TokenRange range{0, prompt_.size()};
  const linkw::StateOpDone demoted = RunOp(peer, linkw::Demote{.sequence = sequence_,
                                                               .range = range,
                                                               .buf_id = linkw::BufId{1},
                                                               .sizing_gen = sized.sizing_gen});
  ASSERT_EQ(demoted.state, OpState::kDone) << demoted.message;
  const uint64_t tick = SendTick(peer, {Lane(1, sequence_, {}, 1)});
  Run();
  EXPECT_EQ(peer.Expect<linkw::TickResult>(tick).events.lanes.at(0).status,
            Status::kFailedPrecondition);
  const linkw::StateOpDone promoted =
      RunOp(peer, linkw::Promote{.sequence = sequence_, .range = range, .buf_id = linkw::BufId{1}});
  ASSERT_EQ(promoted.state, OpState::kDone) << promoted.message;
  EXPECT_EQ(Decode(peer, sequence_, 20), Decode(peer, twin, 20));
}

TEST_F(StateOpsTest, AcceptedThenDoneThenTheTickThatListsIt) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  const uint64_t early = SendTick(peer, {Lane(2, {}, {1}, 1)});
  Run();
  const auto accepted = peer.Expect<linkw::StateOpAccepted>(op);
  EXPECT_TRUE(peer.Expect<linkw::TickResult>(early).events.op_completions.empty())
      << "an unrelated tick runs beside the op";
  RunOps();
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(op).op_handle, accepted.op_handle);
  const uint64_t late = SendTick(peer, {Lane(2, {}, {1}, 1)});
  const uint64_t later = SendTick(peer, {Lane(2, {}, {1}, 1)});
  Run();
  const auto lists = peer.Expect<linkw::TickResult>(late).events.op_completions;
  ASSERT_EQ(lists.size(), 1);
  EXPECT_EQ(lists[0].op_handle, accepted.op_handle);
  EXPECT_TRUE(peer.Expect<linkw::TickResult>(later).events.op_completions.empty());
}

TEST_F(StateOpsTest, ATickOnTheSequenceWaitsForTheOp) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  const uint64_t same = SendTick(peer, {Lane(1, sequence_, {}, 1)});
  const uint64_t other = SendTick(peer, {Lane(2, {}, {1}, 1)});
  Run();
  peer.Expect<linkw::StateOpAccepted>(op);
  peer.Expect<linkw::TickResult>(other);
  EXPECT_TRUE(peer.empty());
  RunOps();
  // Its payload is hashed beside the tick.
  ASSERT_EQ(peer.received().size(), 2u);
  for (const Received& received : peer.received()) {
    if (const auto* done = std::get_if<linkw::StateOpDone>(&received.message)) {
      EXPECT_EQ(received.correlation, op);
      EXPECT_EQ(done->state, OpState::kDone) << "it exported what was there before the tick";
    } else {
      EXPECT_EQ(received.correlation, same);
      EXPECT_EQ(std::get<linkw::TickResult>(received.message).status, Status::kOk);
    }
  }
}

// Copying and hashing take seconds for a large state, and stop neither buffers nor other ops.
TEST_F(StateOpsTest, WhileStateIsCopiedAndHashedItsLinkIsServedAndItsTokenIsLookedAt) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  ASSERT_EQ(RunOp(peer, SnapshotOf(peer, sequence_, 0, prompt_.size(), 1)).state, OpState::kDone);
  const auto copy = Call<linkw::CreateSequenceResult>(peer, linkw::CreateSequence{}).sequence;
  const linkw::Snapshot snapshot = SnapshotOf(peer, sequence_, 0, prompt_.size(), 2);
  Run();
  readers_->hangs = true;
  const uint64_t restore =
      peer.Send(linkw::StateOpSubmit{linkw::Restore{copy, linkw::SpaceId{0}, linkw::BufId{1}}});
  const uint64_t exported = peer.Send(linkw::StateOpSubmit{snapshot});
  Advance(absl::Milliseconds(100));
  const auto restoring = peer.Expect<linkw::StateOpAccepted>(restore);
  EXPECT_EQ(restoring.status, Status::kOk);
  const auto exporting = peer.Expect<linkw::StateOpAccepted>(exported);
  EXPECT_EQ(exporting.status, Status::kOk);
  const uint64_t alloc = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId{7}, .len = 4096});
  Run();
  EXPECT_EQ(peer.Expect<linkw::BufAlloced>(alloc).status, Status::kOk);
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(progress_->open_ops(), 2u);
  peer.Send(linkw::OpCancel{restoring.op_handle});
  peer.Send(linkw::OpCancel{exporting.op_handle});
  Run();
  readers_->hangs = false;
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(restore).state, OpState::kCancelled);
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(exported).state, OpState::kCancelled);
  EXPECT_EQ(RunOp(peer, snapshot).state, OpState::kDone) << "nothing is left behind";
}

// The engine has let go of its copy: what the buffer has is all that there is.
TEST_F(StateOpsTest, ADemotionThatTheEngineHasDoneIsSealedThoughItIsCancelled) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const linkw::Snapshot sized = SnapshotOf(peer, sequence_, 0, prompt_.size(), 1);
  const linkw::TokenRange range{0, prompt_.size()};
  Run();
  readers_->hangs = true;
  const uint64_t op =
      peer.Send(linkw::StateOpSubmit{linkw::Demote{.sequence = sequence_,
                                                   .range = range,
                                                   .buf_id = linkw::BufId{1},
                                                   .sizing_gen = sized.sizing_gen}});
  Advance(absl::Milliseconds(100));
  const auto accepted = peer.Expect<linkw::StateOpAccepted>(op);
  EXPECT_TRUE(peer.empty());
  peer.Send(linkw::OpCancel{accepted.op_handle});
  Run();
  readers_->hangs = false;
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(op).state, OpState::kDone) << "it won the race";
  const linkw::StateOpDone promoted =
      RunOp(peer, linkw::Promote{.sequence = sequence_, .range = range, .buf_id = linkw::BufId{1}});
  EXPECT_EQ(promoted.state, OpState::kDone) << promoted.message;
}

// After it was accepted: what is asked for and cannot be done now is BUSY.
TEST_F(StateOpsTest, WithoutAThreadForItAnImportIsBusyAndAnExportIsDone) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const linkw::Snapshot snapshot = SnapshotOf(peer, sequence_, 0, prompt_.size(), 1);
  readers_->is_full = true;
  EXPECT_EQ(RunOp(peer, snapshot).state, OpState::kDone);
  const auto copy = Call<linkw::CreateSequenceResult>(peer, linkw::CreateSequence{}).sequence;
  const linkw::Restore restore{copy, linkw::SpaceId{0}, linkw::BufId{1}};
  EXPECT_EQ(RunOp(peer, restore).error, Status::kBusy);
  readers_->is_full = false;
  EXPECT_EQ(RunOp(peer, restore).state, OpState::kDone);
}

TEST_F(StateOpsTest, ATickThatWaitsForAnOpKeepsItsDeadline) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  const uint64_t tick = SendTick(peer, {Lane(1, sequence_, {}, 1)}, 0, /*deadline_us=*/5000);
  Run();
  peer.Expect<linkw::StateOpAccepted>(op);
  Advance(absl::Milliseconds(6));
  const auto result = peer.Expect<linkw::TickResult>(tick);
  EXPECT_EQ(result.status, Status::kDeadlineExceeded);
  EXPECT_TRUE(result.events.lanes.empty()) << "it never ran";
  RunOps();
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(op).state, OpState::kDone);
}

TEST_F(StateOpsTest, TheSeventeenthOpIsBusyAndOneMoreFitsAfterADone) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const linkw::Snapshot sized = SnapshotOf(peer, sequence_, 0, prompt_.size(), 1);
  std::vector<uint64_t> ops;
  ops.reserve(17);
  for (int i = 0; i < 17; ++i) ops.push_back(peer.Send(linkw::StateOpSubmit{sized}));
  const uint64_t ping = peer.Send(linkw::Ping{});
  Run();
  size_t accepted = 0;
  while (!peer.empty()) {
    const Received received = peer.Take();
    if (received.correlation == ping) {
      EXPECT_LE(std::get<linkw::Pong>(received.message).open_ops, 16u);
      continue;
    }
    const auto& answer = std::get<linkw::StateOpAccepted>(received.message);
    EXPECT_EQ(answer.status, received.correlation == ops[16] ? Status::kBusy : Status::kOk);
    accepted += answer.status == Status::kOk ? 1 : 0;
  }
  EXPECT_EQ(accepted, 16);
  // One sequence: one op after the other.
  while (peer.empty()) Advance(absl::Milliseconds(5));
  peer.Expect<linkw::StateOpDone>(ops[0]);
  const uint64_t next = peer.Send(linkw::StateOpSubmit{sized});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateOpAccepted>(next).status, Status::kOk);
  Advance(absl::Milliseconds(600));
  EXPECT_EQ(peer.received().size(), 16);
}

TEST_F(StateOpsTest, AReleaseOfABoundBufferWaitsForItsOp) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  peer.Send(linkw::BufRelease{linkw::BufId{1}});
  const uint64_t after = peer.Send(
      linkw::StateOpSubmit{linkw::Restore{sequence_, linkw::SpaceId{0}, linkw::BufId{1}}});
  Run();
  EXPECT_EQ(peer.Expect<linkw::StateOpAccepted>(op).status, Status::kOk);
  EXPECT_EQ(peer.Expect<linkw::StateOpAccepted>(after).status, Status::kUnknownHandle)
      << "the id is gone at once";
  RunOps();
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(op).state, OpState::kDone);
  linkw::StateEnvelopeBytes sealed;
  std::memcpy(sealed.data(), buffers_.at(1).data(), sealed.size());
  EXPECT_TRUE(linkw::ParseStateEnvelope(sealed, buffers_.at(1).size()).ok())
      << "the memory was still there";
}

TEST_F(StateOpsTest, ACancelledOpStillEndsWithOneDone) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  Run();
  const linkw::OpHandle handle = peer.Expect<linkw::StateOpAccepted>(op).op_handle;
  for (int i = 0; i < 3; ++i) peer.Send(linkw::OpCancel{handle});
  peer.Send(linkw::OpCancel{linkw::OpHandle{777}});
  Run();
  const auto done = peer.Expect<linkw::StateOpDone>(op);
  EXPECT_EQ(done.state, OpState::kCancelled);
  EXPECT_EQ(done.error, Status::kCancelled);
  peer.Send(linkw::OpCancel{handle});
  RunOps();
  EXPECT_TRUE(peer.empty());
  EXPECT_EQ(Decode(peer, sequence_, 3).size(), 3) << "the sequence is as it was";
}

TEST_F(StateOpsTest, WhatCannotBeIsRefused) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  linkw::Snapshot sized = SnapshotOf(peer, sequence_, 0, prompt_.size(), 1);
  const auto error = [&](const linkw::Snapshot& snapshot) { return RunOp(peer, snapshot).error; };
  linkw::Snapshot wrong = sized;
  wrong.buf_id = linkw::BufId{99};
  EXPECT_EQ(error(wrong), Status::kUnknownHandle);
  wrong = sized;
  wrong.sequence = linkw::SequenceId{99};
  EXPECT_EQ(error(wrong), Status::kUnknownHandle);
  wrong = sized;
  wrong.space_id = linkw::SpaceId{9};
  EXPECT_EQ(error(wrong), Status::kInvalidArgument);
  wrong = sized;
  wrong.boundary_pos = 1'000'000;
  EXPECT_EQ(error(wrong), Status::kInvalidArgument);
  Decode(peer, sequence_, 1);
  EXPECT_EQ(error(sized), Status::kFailedPrecondition) << "the state grew since EXPORT_SIZE";
}

TEST_F(StateOpsTest, DamagedStateIsRefusedBeforeTheEngineSeesIt) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  ASSERT_EQ(RunOp(peer, SnapshotOf(peer, sequence_, 0, prompt_.size(), 1)).state, OpState::kDone);
  const auto copy = Call<linkw::CreateSequenceResult>(peer, linkw::CreateSequence{}).sequence;
  const linkw::Restore restore{copy, linkw::SpaceId{0}, linkw::BufId{1}};
  std::byte* const bytes = buffers_.at(1).data();
  const size_t size = buffers_.at(1).size();
  for (size_t at = 0; at < size; at += at < 160 ? 1 : 97) {
    bytes[at] ^= std::byte{0x10};
    EXPECT_EQ(RunOp(peer, restore).error, Status::kEnvelopeMismatch) << "byte " << at;
    bytes[at] ^= std::byte{0x10};
  }
  EXPECT_EQ(RunOp(peer, restore).state, OpState::kDone);
}

TEST_F(StateOpsTest, ADrainFinishesOpsTicksAndTranscriptions) {
  engine_options.emplace_back("segment_ms", "100");
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  const uint64_t tick = SendTick(peer, {Lane(1, sequence_, {}, 1)});
  const uint64_t transcription = SendTranscription(peer, 200);
  const uint64_t drain = peer.Send(linkw::DrainRequest{});
  const uint64_t late = SendTick(peer, {Lane(2, {}, {1}, 1)});
  Run();
  RunOps();
  std::map<uint64_t, size_t> last;
  size_t at = 0;
  for (const Received& received : peer.received()) last[received.correlation] = ++at;
  EXPECT_EQ(last.size(), 5);
  EXPECT_EQ(last[drain], at) << "Drained is the last word";
  EXPECT_GT(last[op], 0u);
  EXPECT_GT(last[tick], 0u);
  EXPECT_GT(last[transcription], 0u);
  for (const Received& received : peer.received()) {
    if (received.correlation == late) {
      EXPECT_EQ(std::get<linkw::TickResult>(received.message).status, Status::kDraining);
    }
    if (received.correlation == drain) {
      EXPECT_EQ(std::get<linkw::Drained>(received.message).finished, 3u);
    }
  }
}

TEST_F(StateOpsTest, ADrainCancelsOpsAtItsDeadline) {
  engine_options = {{"op_us", "1000000"}};
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  const uint64_t drain = peer.Send(linkw::DrainRequest{.deadline_ms = 50});
  Run();
  peer.Expect<linkw::StateOpAccepted>(op);
  Advance(absl::Milliseconds(70));
  EXPECT_EQ(peer.Expect<linkw::StateOpDone>(op).state, OpState::kCancelled);
  EXPECT_EQ(peer.Expect<linkw::Drained>(drain).cancelled, 1u);
}

TEST_F(StateOpsTest, AShutDownThatCancelsTranscriptionsFinishesOps) {
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  const uint64_t op = SubmitSnapshot(peer, 1);
  const uint64_t transcription = peer.Send(LiveRequest());  // its audio never comes
  const uint64_t drain =
      peer.Send(linkw::DrainRequest{.cancel_transcriptions = true, .shut_down = true});
  Run();
  RunOps();
  for (const Received& received : peer.received()) {
    if (const auto* done = std::get_if<linkw::StateOpDone>(&received.message)) {
      EXPECT_EQ(received.correlation, op);
      EXPECT_EQ(done->state, OpState::kDone) << done->message;
    } else if (const auto* answer = std::get_if<linkw::StateSyncResult>(&received.message)) {
      EXPECT_EQ(received.correlation, transcription);
      EXPECT_EQ(answer->status, Status::kCancelled);
    } else if (const auto* drained = std::get_if<linkw::Drained>(&received.message)) {
      EXPECT_EQ(received.correlation, drain);
      EXPECT_EQ(drained->finished, 1u);
      EXPECT_EQ(drained->cancelled, 1u);
    }
  }
  EXPECT_EQ(peer.received().size(), 5u);  // and StateOpAccepted, and the worker's last word
}

TEST_F(StateOpsTest, ALinkThatVanishesTakesItsOpsWithIt) {
  engine_options = {{"op_us", "1000000"}};
  Peer& peer = StartDriver();
  sequence_ = Prefill(peer, prompt_);
  SubmitSnapshot(peer, 1);
  Run();
  peer.HangUp();
  Run();
  Peer& next = NextDriver();
  EXPECT_EQ(Memory(next).pool_blocks_used, 0u);
  EXPECT_EQ(progress_->open_ops(), 0u);
}

}  // namespace
}  // namespace superfluid
