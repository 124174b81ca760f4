#include "tools/bench/report.h"

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace superfluid::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Report SomeReport() {
  Report report;
  report.version = "1.2.3";
  report.kernel = "Linux 6";
  report.cpu = "some CPU";
  report.cpus = {0, 3};
  report.steal_percent = 2.5;
  report.controls = {{"one core", {1.01, 0.9, 1.1}}};
  report.figures = {{"PING / raw", "one core", "x", {1.25, 1.2, 1.5}, 1.5},
                    {"threads <now>", "", "", {13, 13, 13}, 12.0},
                    {"grown by", "", "KiB", {0, 0, 0}, 0.0},
                    {"tick / gRPC", "one core", "x", {0.1, 0.1, 0.2}, {}}};
  report.round_trips = {{"one core", 0, "raw", {9, 8, 10}},
                        {"one core", 256, "worker", {400, 390, 500}}};
  return report;
}

TEST(StatisticsTest, PercentilesLieAmongTheValues) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(Percentile(values, 0), 1);
  EXPECT_EQ(Percentile(values, 0.5), 3);
  EXPECT_EQ(Percentile(values, 1), 5);
  EXPECT_EQ(SpreadOf({7}).median, 7);
  EXPECT_EQ(SpreadOf({7}).p90, 7);
}

TEST(StatisticsTest, ARatioIsTakenRoundByRound) {
  // The medians alone would say 20 / 2.
  const Spread ratio = RatioOf({10, 20, 300}, {1, 10, 2});
  EXPECT_EQ(ratio.median, 10);
  EXPECT_EQ(ratio.p10, 2);
  EXPECT_EQ(ratio.p90, 150);
}

TEST(ReportTest, TheTableSaysTargetsAndTheMachine) {
  const std::string table = TableOf(SomeReport());
  for (const char* const part :
       {"1.2.3", "Linux 6", "some CPU", "CPUs 0,3", "2.5 % steal", "PING / raw", "1.25 x",
        "target <= 1.50\n", "target <= 12.0  MISSED", "target <= 0.00\n", "256 lanes"}) {
    EXPECT_THAT(table, HasSubstr(part));
  }
  EXPECT_THAT(table, Not(HasSubstr("VOID")));
}

TEST(ReportTest, ARunWhoseControlCameApartIsVoid) {
  for (const double median : {0.94, 1.06}) {
    Report report = SomeReport();
    report.controls.push_back({"unpinned", {median, median, median}});
    EXPECT_TRUE(report.is_void());
    EXPECT_THAT(TableOf(report), HasSubstr("VOID"));
    EXPECT_THAT(SvgOf(report), HasSubstr("VOID"));
    EXPECT_EQ(nlohmann::json::parse(JsonOf(report)).at("void"), true);
  }
}

TEST(ReportTest, TheJsonHasEverything) {
  const nlohmann::json json = nlohmann::json::parse(JsonOf(SomeReport()));
  EXPECT_EQ(json.at("void"), false);
  EXPECT_EQ(json.at("cpus"), nlohmann::json({0, 3}));
  ASSERT_EQ(json.at("figures").size(), 4);
  EXPECT_EQ(json["figures"][0].at("value").at("p90"), 1.5);
  EXPECT_EQ(json["figures"][0].at("target"), 1.5);
  EXPECT_FALSE(json["figures"][3].contains("target"));
  EXPECT_EQ(json.at("round_trips")[1].at("us").at("median"), 400);
  EXPECT_EQ(json.at("controls")[0].at("placement"), "one core");
}

TEST(ReportTest, ThePictureHasARowATarget) {
  const std::string svg = SvgOf(SomeReport());
  EXPECT_THAT(svg, HasSubstr("threads &lt;now&gt;"));
  size_t dots = 0;
  for (size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) ++dots;
  EXPECT_EQ(dots, 3) << "one for each figure that has a target";
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace superfluid::bench
