#include "tools/worker/worker_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace superfluid {
namespace {

using ::testing::ElementsAre;

constexpr uid_t kFriend = 4711;

TEST(WhoMayConnectTest, TheOwnUserUnlessToldOtherwise) {
  const auto who = WhoMayConnect(WorkerOptions{}, 0600);
  EXPECT_FALSE(who.any_uid);
  EXPECT_THAT(who.allowed_uids, ElementsAre(geteuid()));
}

TEST(WhoMayConnectTest, TheFileDecidesWhereAModeWasChosen) {
  WorkerOptions options;
  options.socket_mode = 0660;
  EXPECT_TRUE(WhoMayConnect(options, 0660).any_uid);
  options.allowed_uids = {kFriend};
  const auto who = WhoMayConnect(options, 0660);
  EXPECT_FALSE(who.any_uid) << "uids are looked at wherever some are named";
  EXPECT_THAT(who.allowed_uids, ElementsAre(kFriend, geteuid()));
}

TEST(WhoMayConnectTest, OfASocketHandedOverAGroupIsAChoiceAndEverybodyIsNot) {
  WorkerOptions options;
  options.activated_fd = 3;
  EXPECT_TRUE(WhoMayConnect(options, 0660).any_uid);
  EXPECT_FALSE(WhoMayConnect(options, 0666).any_uid) << "systemd's default";
  EXPECT_FALSE(WhoMayConnect(options, 0600).any_uid);
  EXPECT_FALSE(WhoMayConnect(options, 0).any_uid) << "it has no file";
}

}  // namespace
}  // namespace superfluid
