#include "actors/link/admission.h"

#include "gtest/gtest.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

using linkw::MessageType;

TEST(AdmissionTest, OnlyHelloAndPingComeFirst) {
  const auto role = linkw::Role::kDriver;
  EXPECT_TRUE(Admit(LinkPhase::kAwaitingHello, role, MessageType::kHello).ok());
  EXPECT_TRUE(Admit(LinkPhase::kAwaitingHello, role, MessageType::kPing).ok());
  EXPECT_TRUE(linkw::IsLinkError(Admit(LinkPhase::kAwaitingHello, role, MessageType::kTelemetry)));
  EXPECT_TRUE(linkw::IsLinkError(Admit(LinkPhase::kOpen, role, MessageType::kHello)));
}

TEST(AdmissionTest, ADrainingLinkTakesNoNewWorkButEndsTheOld) {
  const auto role = linkw::Role::kDriver;
  const absl::Status refused = Admit(LinkPhase::kDraining, role, MessageType::kStateSyncRequest);
  EXPECT_EQ(linkw::FromAbsl(refused), linkw::Status::kDraining);
  EXPECT_FALSE(linkw::IsLinkError(refused));
  for (const MessageType type :
       {MessageType::kPing, MessageType::kTranscribeCancel, MessageType::kTranscribeAudio,
        MessageType::kBufRelease, MessageType::kSeedRelease, MessageType::kOpCancel}) {
    EXPECT_TRUE(Admit(LinkPhase::kDraining, role, type).ok()) << linkw::MessageTypeName(type);
  }
}

TEST(AdmissionTest, ObserversOnlyLook) {
  const auto role = linkw::Role::kObserver;
  EXPECT_TRUE(Admit(LinkPhase::kOpen, role, MessageType::kPing).ok());
  EXPECT_TRUE(Admit(LinkPhase::kOpen, role, MessageType::kTelemetry).ok());
  for (const MessageType type :
       {MessageType::kTickSubmit, MessageType::kBufAlloc, MessageType::kTranscribeCancel}) {
    EXPECT_EQ(linkw::FromAbsl(Admit(LinkPhase::kOpen, role, type)),
              linkw::Status::kPermissionDenied)
        << linkw::MessageTypeName(type);
  }
}

TEST(AdmissionTest, PingsAndCancelsOvertakeAndReleasesDoNot) {
  EXPECT_TRUE(Overtakes(MessageType::kPing));
  EXPECT_TRUE(Overtakes(MessageType::kTranscribeCancel));
  EXPECT_TRUE(Overtakes(MessageType::kOpCancel));
  EXPECT_FALSE(Overtakes(MessageType::kBufRelease));
  EXPECT_FALSE(Overtakes(MessageType::kStateSyncRequest));
}

}  // namespace
}  // namespace superfluid
