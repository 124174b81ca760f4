#include "shm/owned_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/shm/fd_test_util.h"

namespace superfluid {
namespace {

using ::superfluid::testing::CountOpenFds;

OwnedFd OpenNull() { return OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST(OwnedFdTest, ClosesOnDestruction) {
  const size_t before = CountOpenFds();
  {
    const OwnedFd fd = OpenNull();
    ASSERT_TRUE(fd.valid());
    EXPECT_EQ(CountOpenFds(), before + 1);
  }
  EXPECT_EQ(CountOpenFds(), before);
}

TEST(OwnedFdTest, IsEmptyByDefault) {
  const OwnedFd fd;
  EXPECT_FALSE(fd.valid());
  EXPECT_EQ(fd.get(), -1);
}

TEST(OwnedFdTest, MovesOwnership) {
  const size_t before = CountOpenFds();
  OwnedFd first = OpenNull();
  const int number = first.get();
  OwnedFd second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): what is being tested
  EXPECT_EQ(second.get(), number);
  OwnedFd third = OpenNull();
  third = std::move(second);  // closes what it held
  EXPECT_EQ(third.get(), number);
  EXPECT_EQ(CountOpenFds(), before + 1);
}

TEST(OwnedFdTest, SelfMoveKeepsTheDescriptor) {
  OwnedFd fd = OpenNull();
  OwnedFd& alias = fd;
  fd = std::move(alias);
  EXPECT_TRUE(fd.valid());
  EXPECT_NE(fcntl(fd.get(), F_GETFD), -1);
}

TEST(OwnedFdTest, ReleaseLeavesTheDescriptorOpen) {
  OwnedFd fd = OpenNull();
  const int number = fd.Release();
  EXPECT_FALSE(fd.valid());
  EXPECT_EQ(close(number), 0);
}

}  // namespace
}  // namespace superfluid
