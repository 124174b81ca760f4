#include "actors/dispatch/held_frames.h"

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
  for (uint64_t seq = 1; seq <= 3; ++seq) frames.Push(Held(seq, MessageType::kStateSyncRequest));
  frames.Cancel(2);
  frames.CancelTranscriptions();
  frames.Push(Held(4, MessageType::kStateSyncRequest));
  std::vector<HeldCancel> cancels;
  for (; !frames.empty(); frames.Pop()) cancels.push_back(frames.front().cancel);
  EXPECT_EQ(cancels, (std::vector{HeldCancel::kTranscription, HeldCancel::kAny,
                                  HeldCancel::kTranscription, HeldCancel::kNone}));
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
