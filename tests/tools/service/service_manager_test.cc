#include "tools/service/service_manager.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "shm/owned_fd.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

// The manager's end of the protocol.
class ManagerSocket {
 public:
  // `name`: a path, or '@' and an abstract name.
  explicit ManagerSocket(const std::string& name)
      : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }

  // The datagrams since the last call.
  std::vector<std::string> Take() const {
    std::vector<std::string> taken;
    char bytes[1024];
    ssize_t size = 0;
    while ((size = recv(fd_.get(), bytes, sizeof(bytes), 0)) >= 0) {
      taken.emplace_back(bytes, static_cast<size_t>(size));
    }
    return taken;
  }

 private:
  const OwnedFd fd_;
};

class ServiceManagerTest : public ::testing::Test {
 protected:
  ~ServiceManagerTest() override { std::filesystem::remove(path_); }
  const std::string path_ = absl::StrCat("/tmp/sfm-", getpid());
};

TEST_F(ServiceManagerTest, IsToldToWaitForWhatLoadsOnceASecondAtMost) {
  const ManagerSocket manager(path_);
  ServiceManager told(path_, absl::ZeroDuration());
  told.Loading(0);
  told.Loading(420);
  EXPECT_THAT(manager.Take(),
              ElementsAre("EXTEND_TIMEOUT_USEC=30000000\nSTATUS=loading the engine"));
  ServiceManager other(path_, absl::ZeroDuration());
  other.Loading(425);
  EXPECT_THAT(manager.Take(),
              ElementsAre("EXTEND_TIMEOUT_USEC=30000000\nSTATUS=loading the engine: 42 %"));
}

TEST_F(ServiceManagerTest, IsToldOfEachChange) {
  const ManagerSocket manager(path_);
  const ServiceManager told(path_, absl::ZeroDuration());
  told.Ready("");
  told.Ready("serving sim");
  told.Status("2 of 2 workers ready");
  told.Reloading();
  told.Stopping();
  EXPECT_THAT(manager.Take(),
              ElementsAre("READY=1", "READY=1\nSTATUS=serving sim", "STATUS=2 of 2 workers ready",
                          MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"), "STOPPING=1"));
}

TEST_F(ServiceManagerTest, MayHaveAnAbstractName) {
  const std::string name = absl::StrCat("@superfluid-test-", getpid());
  const ManagerSocket manager(name);
  ServiceManager(name, absl::ZeroDuration()).Ready("");
  EXPECT_THAT(manager.Take(), ElementsAre("READY=1"));
}

TEST_F(ServiceManagerTest, IsTakenFromTheEnvironmentAndRemovedFromIt) {
  const ManagerSocket manager(path_);
  setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  setenv("WATCHDOG_USEC", "2000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  const ServiceManager told = ServiceManager::FromEnvironment();
  EXPECT_TRUE(told.present());
  EXPECT_EQ(told.watchdog(), absl::Seconds(2));
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
    EXPECT_EQ(std::getenv(name), nullptr) << name;
  }
  told.Ready("");
  EXPECT_THAT(manager.Take(), ElementsAre("READY=1"));
}

TEST_F(ServiceManagerTest, AWatchdogOfAnotherProcessIsNotOurs) {
  setenv("WATCHDOG_USEC", "2000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager::FromEnvironment().watchdog(), absl::ZeroDuration());
}

TEST_F(ServiceManagerTest, SignsOfLifeAreFewerThanCalls) {
  const ManagerSocket manager(path_);
  ServiceManager told(path_, absl::Hours(1));
  for (int i = 0; i < 100; ++i) told.Alive();
  EXPECT_THAT(manager.Take(), ElementsAre("WATCHDOG=1"));
}

TEST_F(ServiceManagerTest, WithoutAWatchdogThereAreNoSignsOfLife) {
  const ManagerSocket manager(path_);
  ServiceManager told(path_, absl::ZeroDuration());
  told.Alive();
  EXPECT_THAT(manager.Take(), IsEmpty());
}

TEST_F(ServiceManagerTest, NobodyOrADeadManagerIsNoError) {
  const ServiceManager none = ServiceManager::FromEnvironment();
  EXPECT_FALSE(none.present());
  none.Ready("");
  ServiceManager(path_, absl::ZeroDuration()).Ready("");
  ServiceManager(std::string(500, 'x'), absl::ZeroDuration()).Ready("");
}

TEST(ActivatedSocketsTest, AreTakenOnceAndNotInherited) {
  const int low = fcntl(STDERR_FILENO, F_DUPFD, 3);
  setenv("LISTEN_FDS", "1", 1);
  setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_THAT(TakeActivatedSockets(), ElementsAre(3));
  EXPECT_EQ(fcntl(3, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  EXPECT_THAT(TakeActivatedSockets(), IsEmpty());
  close(low);
}

TEST(ActivatedSocketsTest, ThoseOfAnotherProcessAreLeftAlone) {
  setenv("LISTEN_FDS", "1", 1);
  setenv("LISTEN_PID", "1", 1);
  EXPECT_THAT(TakeActivatedSockets(), IsEmpty());
}

TEST(ActivatedSocketsTest, ACountOutOfReasonIsNone) {
  setenv("LISTEN_FDS", "2000000000", 1);
  setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_THAT(TakeActivatedSockets(), IsEmpty());
}

}  // namespace
}  // namespace superfluid
