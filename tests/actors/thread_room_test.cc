#include "actors/runtime/thread_room.h"

#include <pthread.h>

#include <cstdlib>
#include <filesystem>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

size_t Threads() {
  size_t threads = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++threads;
  }
  return threads;
}

TEST(ThreadRoomTest, ThereIsRoomAndNoneOfItIsKept) {
  const size_t before = Threads();
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(HasThreadRoom(4));
    EXPECT_EQ(Threads(), before);
  }
}

// A stack larger than what the process may have stands for any limit.
void ExitWithRoom() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{1} << 46);
  if (pthread_setattr_default_np(&attributes) != 0) std::_Exit(2);
  std::_Exit(HasThreadRoom(4) ? 1 : 0);
}

TEST(ThreadRoomTest, WithoutRoomItSaysSoAndThrowsNothing) {
  EXPECT_EXIT(ExitWithRoom(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace superfluid
