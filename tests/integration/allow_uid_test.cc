// Other users of the machine, where the test may become one of them.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::Status;

constexpr uid_t kAllowed = 65534;
constexpr uid_t kOther = 65533;
constexpr int kCannotBecome = 255;

// The status with which another user's connection ends up, in a process of its own; nullopt if this
// process may not become another user.
std::optional<Status> ConnectAs(uid_t uid, const std::string& socket) {
  const pid_t child = fork();
  if (child == 0) {
    if (setresuid(uid, uid, uid) != 0) _exit(kCannotBecome);
    linkw::LinkClientOptions options;
    options.role = linkw::Role::kObserver;
    const auto client = linkw::LinkClient::Connect(socket, options);
    _exit(static_cast<int>(linkw::FromAbsl(client.status())));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotBecome) return std::nullopt;
  return static_cast<Status>(WEXITSTATUS(status));
}

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

TEST(AllowUidTest, AnAllowedUserGetsInAndAnotherIsToldThatItMayNot) {
  WorkerProcess worker({"--engine", "sim", "--allow-uid", std::to_string(kAllowed)});
  ASSERT_NE(worker.Connect(), nullptr);
  EXPECT_EQ(ModeOf(worker.socket()), 0666U);
  ASSERT_EQ(chmod(worker.folder().c_str(), 0755), 0);
  EXPECT_EQ(ConnectAs(kAllowed, worker.socket()).value_or(Status::kOk), Status::kOk);
  EXPECT_EQ(ConnectAs(kOther, worker.socket()).value_or(Status::kPermissionDenied),
            Status::kPermissionDenied);
}

TEST(AllowUidTest, WithoutTheOptionTheSocketIsTheOwnUsers) {
  WorkerProcess worker({"--engine", "sim"});
  ASSERT_NE(worker.Connect(), nullptr);
  EXPECT_EQ(ModeOf(worker.socket()), 0600U);
  ASSERT_EQ(chmod(worker.folder().c_str(), 0755), 0);
  EXPECT_EQ(ConnectAs(kAllowed, worker.socket()).value_or(Status::kPermissionDenied),
            Status::kPermissionDenied);
}

}  // namespace
}  // namespace superfluid
