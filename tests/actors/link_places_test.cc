#include "actors/supervision/link_places.h"

#include <cstdint>
#include <map>
#include <optional>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class LinkPlacesTest : public testing::Test {
 protected:
  LinkPlaces::Admitted Observe(uint64_t link, int64_t now_ns) {
    return places_.BecomeObserver(LinkId{link}, now_ns,
                                  [this](LinkId observer) { return heard_ns_[observer]; });
  }

  LinkPlaces places_{{.new_links = 3, .observers = 2, .observer_idle = absl::Seconds(1)}};
  std::map<LinkId, int64_t> heard_ns_;
};

TEST_F(LinkPlacesTest, TheOldestNewLinkGivesWay) {
  for (uint64_t link = 1; link <= 3; ++link) {
    EXPECT_EQ(places_.AddNew(LinkId{link}), std::nullopt);
  }
  EXPECT_EQ(places_.AddNew(LinkId{4}), LinkId{1});
  EXPECT_EQ(places_.AddNew(LinkId{5}), LinkId{2});
}

TEST_F(LinkPlacesTest, AHelloOrTheEndFreesThePlaceOfANewLink) {
  for (uint64_t link = 1; link <= 3; ++link) places_.AddNew(LinkId{link});
  places_.BecomeDriver(LinkId{1});
  EXPECT_TRUE(Observe(2, 0).admitted);
  places_.Remove(LinkId{3});
  for (uint64_t link = 4; link <= 6; ++link) {
    EXPECT_EQ(places_.AddNew(LinkId{link}), std::nullopt);
  }
}

TEST_F(LinkPlacesTest, TheObserverThatWasSilentLongestGivesWay) {
  EXPECT_TRUE(Observe(1, 0).admitted);
  EXPECT_TRUE(Observe(2, 0).admitted);
  heard_ns_ = {{LinkId{1}, 9 * kSecond}, {LinkId{2}, 5 * kSecond}};
  const LinkPlaces::Admitted third = Observe(3, 10 * kSecond);
  EXPECT_TRUE(third.admitted);
  EXPECT_EQ(third.gives_way, LinkId{2});
  EXPECT_EQ(places_.observers(), 2U);
}

TEST_F(LinkPlacesTest, ObserversThatWereHeardOfLatelyKeepTheirPlaces) {
  EXPECT_TRUE(Observe(1, 0).admitted);
  EXPECT_TRUE(Observe(2, 0).admitted);
  heard_ns_ = {{LinkId{1}, 10 * kSecond}, {LinkId{2}, 10 * kSecond}};
  const LinkPlaces::Admitted third = Observe(3, 10 * kSecond + kSecond / 2);
  EXPECT_FALSE(third.admitted);
  EXPECT_EQ(third.gives_way, std::nullopt);
  places_.Remove(LinkId{1});
  EXPECT_TRUE(Observe(3, 10 * kSecond + kSecond / 2).admitted);
}

}  // namespace
}  // namespace superfluid
