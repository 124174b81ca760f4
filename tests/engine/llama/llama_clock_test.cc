// Leases last as long as they should when the system's clock is set.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "absl/time/clock.h"
#include "tests/engine/llama/llama_fixture.h"

namespace {

std::atomic<int64_t> seconds_ahead = 0;  // of the date

}  // namespace

// What the whole process takes for the system's.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME && result == 0) time->tv_sec += seconds_ahead;
  return result;
}

namespace superfluid::testing {
namespace {

class LlamaClockTest : public LlamaFixture {
 protected:
  void SetUp() override { Start({{"ttl_ms", "3600000"}, {"ttl_ticks", "1000"}}); }
  void TearDown() override { seconds_ahead = 0; }
};

TEST_F(LlamaClockTest, ALeaseOfAnHourOutlivesAClockThatIsSet) {
  const absl::Time before = absl::Now();
  const Script script = Greedy(Prompt(32), 1);
  const auto made = driver().Plain(script);
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(generation().PublishSequence(made->sequence, script.prompt, {}).ok());
  const auto lease = generation().AcquireSeed(script.prompt, script.prompt.size(), 0, {});
  ASSERT_TRUE(lease.ok()) << lease.status();
  seconds_ahead = 7200;
  ASSERT_GT(absl::Now() - before, absl::Hours(1)) << "the clock was not set";
  EXPECT_TRUE(generation().ReleaseSeed(lease->seed).ok());
}

}  // namespace
}  // namespace superfluid::testing
