#include "tools/superfluidd/fleet/decode_order.h"

#include <optional>

#include "gtest/gtest.h"

namespace superfluid::daemon {
namespace {

constexpr RequestNumber kA{1};
constexpr RequestNumber kB{2};
constexpr RequestNumber kC{3};

class DecodeOrderTest : public testing::Test {
 protected:
  DecodeOrderTest() {
    for (const RequestNumber number : {kA, kB, kC}) order_.Want(number);
  }
  DecodeOrder order_{1};
};

TEST_F(DecodeOrderTest, TheOldestAreDecodedAheadFewAtATime) {
  EXPECT_EQ(order_.TakeAhead(), kA);
  EXPECT_EQ(order_.TakeAhead(), std::nullopt);
  order_.Forget(kA);
  EXPECT_EQ(order_.TakeAhead(), kB);
}

TEST_F(DecodeOrderTest, OneWhoseRequestHasAWorkerCountsNoMore) {
  ASSERT_EQ(order_.TakeAhead(), kA);
  EXPECT_FALSE(order_.Need(kA)) << "its decode goes on";
  EXPECT_EQ(order_.TakeAhead(), kB);
}

TEST_F(DecodeOrderTest, OneThatIsNeededBeforeItsTurnBeginsAtOnce) {
  ASSERT_EQ(order_.TakeAhead(), kA);
  EXPECT_TRUE(order_.Need(kB));
  order_.Forget(kA);
  EXPECT_EQ(order_.TakeAhead(), kC);
}

TEST_F(DecodeOrderTest, OneThatIsForgottenIsNotTaken) {
  order_.Forget(kA);
  EXPECT_EQ(order_.TakeAhead(), kB);
  EXPECT_TRUE(order_.Need(kA)) << "nobody decodes it";
}

TEST_F(DecodeOrderTest, WithoutPlacesNothingIsDecodedAhead) {
  DecodeOrder none(0);
  none.Want(kA);
  EXPECT_EQ(none.TakeAhead(), std::nullopt);
  EXPECT_TRUE(none.Need(kA));
}

}  // namespace
}  // namespace superfluid::daemon
