#include "engine/options/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/options/option_kinds.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Given = std::vector<std::pair<std::string, std::string>>;

enum class Color { kRed, kGreen };

struct Sample {
  int states = 4;
  uint32_t context = 0;
  double threshold = 0.5;
  bool gpu = true;
  Color color = Color::kGreen;
  absl::Duration step = absl::Microseconds(20);
  std::string model;
};

OptionTable<Sample> Table(OptionTable<Sample>::Repeated repeated) {
  return OptionTable<Sample>(
      "sample",
      {
          WholeOption<Sample>(
              "states", 1, 64, [](Sample & s) -> auto& { return s.states; }, "at once"),
          ZeroOrWholeOption<Sample>(
              "context", 16, 100, [](Sample & s) -> auto& { return s.context; }, "tokens"),
          NumberOption<Sample>(
              "threshold", 0, 1, [](Sample & s) -> auto& { return s.threshold; }, "of speech"),
          SwitchOption<Sample>(
              "gpu", [](Sample & s) -> auto& { return s.gpu; }, "use one"),
          ChoiceOption<Sample, Color>(
              "color", {{"red", Color::kRed}, {"green", Color::kGreen}},
              [](Sample & s) -> auto& { return s.color; }, "of it"),
          DurationOption<Sample>(
              "step_us", "microseconds", absl::Microseconds(1), 0, 1000,
              [](Sample & s) -> auto& { return s.step; }, "time of one"),
          TextOption<Sample>(
              "model", "a path", IsSomeText, [](Sample & s) -> auto& { return s.model; }, "a|file"),
      },
      repeated);
}

const OptionTable<Sample>& Strict() {
  static const auto* const kTable =
      new OptionTable<Sample>(Table(OptionTable<Sample>::Repeated::kRefused));
  return *kTable;
}

std::string Refusal(const Given& given) {
  const absl::Status status = Strict().Parse(given).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(OptionTableTest, EachKindIsRead) {
  const absl::StatusOr<Sample> parsed = Strict().Parse({{"states", "2"},
                                                        {"context", "16"},
                                                        {"threshold", "0.25"},
                                                        {"gpu", "false"},
                                                        {"color", "red"},
                                                        {"step_us", "1000"},
                                                        {"model", "m.bin"}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->states, 2);
  EXPECT_EQ(parsed->context, 16U);
  EXPECT_EQ(parsed->threshold, 0.25);
  EXPECT_FALSE(parsed->gpu);
  EXPECT_EQ(parsed->color, Color::kRed);
  EXPECT_EQ(parsed->step, absl::Milliseconds(1));
  EXPECT_EQ(parsed->model, "m.bin");
  EXPECT_EQ(Strict().Parse({{"context", "0"}})->context, 0U);
}

TEST(OptionTableTest, WhatIsWrongIsSaidWithWhatIsRight) {
  EXPECT_EQ(Refusal({{"states", "0"}}),
            "engine option states=0: must be a whole number from 1 to 64");
  EXPECT_EQ(Refusal({{"context", "15"}}),
            "engine option context=15: must be a whole number from 16 to 100, or 0");
  EXPECT_EQ(Refusal({{"threshold", "nan"}}),
            "engine option threshold=nan: must be a number from 0 to 1");
  EXPECT_EQ(Refusal({{"gpu", "2"}}), "engine option gpu=2: must be true or false");
  EXPECT_EQ(Refusal({{"color", "blue"}}), "engine option color=blue: must be one of red, green");
  EXPECT_EQ(Refusal({{"step_us", "-1"}}),
            "engine option step_us=-1: must be a whole number of microseconds from 0 to 1000");
  EXPECT_EQ(Refusal({{"model", ""}}), "engine option model=: must be a text: a path");
}

TEST(OptionTableTest, AnUnknownNameIsSuggestedAndAllAreListed) {
  EXPECT_EQ(Refusal({{"state", "1"}}),
            "the sample engine has no option \"state\" (is \"states\" meant?); it has states, "
            "context, threshold, gpu, color, step_us, model");
  EXPECT_THAT(Refusal({{"thresh", "1"}}), HasSubstr("\"threshold\" meant?"));
  EXPECT_THAT(Refusal({{"colour", "1"}}), HasSubstr("\"color\" meant?"));
  EXPECT_THAT(Refusal({{"zzz", "1"}}), HasSubstr("no option \"zzz\"; it has states"));
}

TEST(OptionTableTest, TwiceIsRefusedUnlessTheLastCounts) {
  EXPECT_EQ(Refusal({{"states", "1"}, {"states", "2"}}), "engine option states is given twice");
  const auto lenient = Table(OptionTable<Sample>::Repeated::kLastCounts);
  EXPECT_EQ(lenient.Parse({{"states", "1"}, {"states", "2"}})->states, 2);
}

TEST(OptionTableTest, TheHelpHasALineAnOption) {
  std::vector<std::string> lines;
  const absl::Status said = SayHelp("sample", Strict().Rows(), [&](absl::string_view line) {
    lines.emplace_back(line.data(), line.size());
  });
  EXPECT_TRUE(absl::IsCancelled(said));
  EXPECT_THAT(lines,
              ElementsAre("options of the engine sample, each --engine-option NAME=VALUE:",
                          "states: at once (a whole number from 1 to 64; default 4)",
                          "context: tokens (a whole number from 16 to 100, or 0; default 0)",
                          "threshold: of speech (a number from 0 to 1; default 0.5)",
                          "gpu: use one (true or false; default true)",
                          "color: of it (one of red, green; default green)",
                          "step_us: time of one (a whole number of microseconds from 0 to 1000; "
                          "default 20)",
                          "model: a|file (a text: a path)"));
  EXPECT_TRUE(AsksForHelp({{"states", "1"}, {"help", ""}}));
  EXPECT_FALSE(AsksForHelp({{"states", "1"}}));
}

TEST(OptionTableTest, TheTableIsMarkdown) {
  const std::string table = MarkdownTable(Strict().Rows());
  EXPECT_THAT(table, HasSubstr("| option | value | default | meaning |\n|---|---|---|---|\n"
                               "| `states` | whole number from 1 to 64 | `4` | at once |\n"));
  EXPECT_THAT(table, HasSubstr("| `model` | text: a path |  | a\\|file |\n"));
}

}  // namespace
}  // namespace superfluid
