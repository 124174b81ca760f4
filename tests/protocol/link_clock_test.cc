#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <future>
#include <mutex>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/status.h"
#include "tests/protocol/client_fixture.h"
#include "tests/protocol/fake_worker.h"

namespace {

// How much further the wall clock of this process jumps each time somebody looks at it.
std::atomic<int64_t> jump_s{0};
std::atomic<int64_t> ahead_s{0};

}  // namespace

// In place of the C library's.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto rc = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (clock == CLOCK_REALTIME) now->tv_sec += ahead_s.fetch_add(jump_s);
  return rc;
}

// Somebody sets the machine's clock while a client waits.
namespace superfluid::linkw {
namespace {

class LinkClockTest : public ClientTest {
 protected:
  ~LinkClockTest() override {
    jump_s = 0;
    ahead_s = 0;
  }

  static void JumpBy(int64_t seconds) { jump_s = seconds; }
};

TEST_F(LinkClockTest, TheClockOfThisTestJumps) {
  JumpBy(3600);
  const absl::Time before = absl::Now();
  EXPECT_GE(absl::Now() - before, absl::Hours(1));
}

TEST_F(LinkClockTest, AClockThatIsSetAheadEndsNoLink) {
  JumpBy(3600);
  Connect({.connect_timeout = absl::Minutes(1), .call_timeout = absl::Minutes(1)});
  ExpectPingWorks();
  EXPECT_TRUE(client_->link_status().ok()) << client_->link_status();
}

TEST_F(LinkClockTest, AClockThatIsSetBackProlongsNoWait) {
  Connect();
  JumpBy(-3600);
  EXPECT_EQ(FromAbsl(client_->Request(Ping{}, absl::Milliseconds(20)).status()),
            Status::kDeadlineExceeded);
}

TEST_F(LinkClockTest, AWaitForATimeEndsAfterTheTimeThatWasLeft) {
  Connect();
  auto stream = Transcribe();
  ahead_s = 7200;
  EXPECT_EQ(FromAbsl(stream->Next(absl::Now() + absl::Milliseconds(20)).status()),
            Status::kDeadlineExceeded);
}

TEST(DeadlineTest, EndsAndDoesNotEnd) {
  EXPECT_TRUE(Deadline::After(absl::ZeroDuration()).passed());
  EXPECT_TRUE(Deadline(absl::InfinitePast()).passed());
  EXPECT_FALSE(Deadline::Never().passed());
  EXPECT_EQ(Deadline(absl::InfiniteFuture()).left(), absl::InfiniteDuration());
  const absl::Duration left = Deadline::After(absl::Hours(1)).left();
  EXPECT_GT(left, absl::Minutes(59));
  EXPECT_LE(left, absl::Hours(1));
}

TEST(DeadlineTest, AWaitWithoutAnEndIsWokenAllTheSame) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  auto waiter = std::async(std::launch::async, [&] {
    std::unique_lock lock(mutex);
    return Deadline::Never().Await(changed, lock, [&done] { return done; });
  });
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  EXPECT_TRUE(waiter.get());
}

}  // namespace
}  // namespace superfluid::linkw
