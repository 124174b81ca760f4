#include "actors/dispatch/held_frames.h"

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/messages/messages.h"
#include "shm/fd_passing.h"

namespace superfluid {
namespace {

using linkw::MessageType;

HeldFrame Held(uint64_t seq, MessageType type, std::string payload = {}) {
  auto frame = std::make_shared<linkw::Frame>();
  frame->header.seq = seq;
  frame->header.type = static_cast<uint16_t>(type);
  frame->payload = std::move(payload);
  return {.frame = std::move(frame)};
}

HeldFrame HeldAttach(uint64_t seq, uint64_t buffer) {
  return Held(seq, MessageType::kBufAttach,
              linkw::Serialize(linkw::DriverMessage(
                                   linkw::BufAttach{.buf_id = linkw::BufId{buffer}, .len = 4096}))
                  .payload);
}

std::vector<uint64_t> Order(HeldFrames& frames) {
  std::vector<uint64_t> order;
  for (; !frames.empty(); frames.Pop()) order.push_back(frames.front().frame->header.seq);
  return order;
}

TEST(HeldFramesTest, WhatOvertakesIsTakenOutAndTheRestKeepsItsOrder) {
  HeldFrames frames;
  frames.Push(Held(1, MessageType::kTickSubmit));
  frames.Push(Held(2, MessageType::kPing));
  frames.Push(Held(3, MessageType::kStateSyncRequest));
  frames.Push(Held(4, MessageType::kTranscribeCancel));
  const auto overtaking = frames.TakeOvertaking();
  ASSERT_EQ(overtaking.size(), 2u);
  EXPECT_EQ(overtaking[0].frame->header.seq, 2u);
  EXPECT_EQ(overtaking[1].frame->header.seq, 4u);
  EXPECT_EQ(Order(frames), (std::vector<uint64_t>{1, 3}));
}

TEST(HeldFramesTest, ACancelMarksWhatItNames) {
  HeldFrames frames;
  for (uint64_t seq = 1; seq <= 3; ++seq) frames.Push(Held(seq, MessageType::kTickSubmit));
  EXPECT_TRUE(frames.Cancel(2).empty()) << "no call";
  EXPECT_TRUE(frames.CancelTranscriptions().empty());
  frames.Push(Held(4, MessageType::kTickSubmit));
  std::vector<HeldCancel> cancels;
  for (; !frames.empty(); frames.Pop()) cancels.push_back(frames.front().cancel);
  EXPECT_EQ(cancels, (std::vector{HeldCancel::kTranscription, HeldCancel::kAny,
                                  HeldCancel::kTranscription, HeldCancel::kNone}));
}

std::string Payload(const linkw::StateSyncRequest& request) {
  return linkw::Serialize(linkw::DriverMessage(request)).payload;
}

TEST(HeldFramesTest, ACancelTakesOutTheCallsThatItEnds) {
  HeldFrames frames;
  const std::string transcribe = Payload({linkw::Transcribe{.audio = linkw::AudioPath{"/a"}}});
  frames.Push(HeldAttach(1, 7));
  frames.Push(Held(2, MessageType::kStateSyncRequest, transcribe));
  frames.Push(Held(3, MessageType::kStateSyncRequest, Payload({linkw::CreateSequence{}})));
  frames.Push(Held(4, MessageType::kStrategyRegister));
  frames.Push(Held(5, MessageType::kStateSyncRequest, transcribe));
  frames.Push(Held(6, MessageType::kStateSyncRequest, transcribe));
  frames.Await(10, 500);
  ASSERT_EQ(frames.Cancel(4).size(), 1u);
  const std::deque<HeldFrame> all = frames.CancelTranscriptions();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].frame->header.seq, 2u);
  EXPECT_EQ(all[2].frame->header.seq, 6u);
  EXPECT_TRUE(frames.awaits()) << "the first one still waits";
  EXPECT_EQ(Order(frames), (std::vector<uint64_t>{1, 3}));
}

TEST(HeldFramesTest, NamesEachDescriptorAsOftenAsItIsClaimed) {
  HeldFrames frames;
  frames.Push(HeldAttach(1, 7));
  frames.Push(HeldAttach(2, 7));
  frames.Push(Held(3, MessageType::kControlAttach));
  frames.Push(Held(4, MessageType::kBufAttach, "no message"));
  EXPECT_EQ(frames.NamedTags(), (std::multiset<uint64_t>{7, 7, kControlTag}));
}

TEST(HeldFramesTest, TheFirstFrameWaitsFromItsFirstTry) {
  HeldFrames frames;
  frames.Push(HeldAttach(1, 7));
  frames.Push(HeldAttach(2, 8));
  frames.Await(10, 500);
  const int64_t settled_ns = frames.settled_ns();
  frames.Await(20, 500);
  EXPECT_EQ(frames.settled_ns(), settled_ns);
  EXPECT_EQ(frames.awaited_until_ns(), 500);
  frames.Pop();
  EXPECT_FALSE(frames.awaits()) << "the next one has not been tried";
}

}  // namespace
}  // namespace superfluid
