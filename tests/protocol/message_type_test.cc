#include "protocol/messages/message_type.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace superfluid::linkw {
namespace {

TEST(MessageTypeTest, ThirtyFiveTypesAreKnown) {
  int known = 0;
  for (uint32_t type = 0; type <= 0xffff; ++type) {
    const auto t = static_cast<uint16_t>(type);
    if (IsKnown(t)) ++known;
    EXPECT_EQ(IsKnown(t), MessageTypeName(static_cast<MessageType>(t)) != "UNKNOWN") << type;
  }
  EXPECT_EQ(known, 36);
}

TEST(MessageTypeTest, BitFifteenSaysDroppable) {
  EXPECT_TRUE(IsDroppable(MessageType::kTickEmit));
  EXPECT_TRUE(IsDroppable(MessageType::kTelemetry));
  EXPECT_FALSE(IsDroppable(MessageType::kTranscribeSegment));
  EXPECT_FALSE(IsDroppable(MessageType::kStateOpDone));
  EXPECT_TRUE(IsDroppable(uint16_t{0x8000}));
  EXPECT_FALSE(IsDroppable(uint16_t{0x7fff}));
}

TEST(MessageTypeTest, LimitsDependOnWhatATypeCarries) {
  constexpr uint32_t max = kDefaultMaxFrame;
  EXPECT_EQ(PayloadLimit(MessageType::kTickSubmit, max), 256u << 10);
  EXPECT_EQ(PayloadLimit(MessageType::kTickResult, max), 256u << 10);
  EXPECT_EQ(PayloadLimit(MessageType::kTickEmit, max), 256u << 10);
  EXPECT_EQ(PayloadLimit(MessageType::kPing, max), 64u << 10);
  EXPECT_EQ(PayloadLimit(MessageType::kHello, max), 64u << 10);
  EXPECT_EQ(PayloadLimit(MessageType::kStateSyncRequest, max), max);
  EXPECT_EQ(PayloadLimit(MessageType::kTranscribeAudio, max), max);
  EXPECT_EQ(PayloadLimit(static_cast<MessageType>(0x7123), max), max);
}

TEST(MessageTypeTest, NoLimitExceedsMaxFrame) {
  for (uint32_t type = 0; type <= 0xffff; ++type) {
    EXPECT_LE(PayloadLimit(static_cast<MessageType>(type), 1000), 1000u);
  }
}

TEST(MessageTypeTest, KnowsWhoSends) {
  EXPECT_EQ(DirectionOf(MessageType::kTranscribeCancel), Direction::kToWorker);
  EXPECT_EQ(DirectionOf(MessageType::kStateSyncResult), Direction::kToDaemon);
  EXPECT_EQ(DirectionOf(MessageType::kTelemetry), Direction::kBoth);
}

}  // namespace
}  // namespace superfluid::linkw
