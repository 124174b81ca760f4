#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/ctl/command_line.h"

namespace superfluid::ctl {
namespace {

TEST(ParseTimeoutTest, TakesSecondsAndUnits) {
  EXPECT_EQ(*ParseTimeout("2"), absl::Seconds(2));
  EXPECT_EQ(*ParseTimeout("0.5"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseTimeout("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseTimeout("1m"), absl::Minutes(1));
  for (const char* bad : {"", "x", "0", "-1", "nan", "inf", "1e300", "1 fortnight"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTimeout(bad).status())) << bad;
  }
}

}  // namespace
}  // namespace superfluid::ctl
