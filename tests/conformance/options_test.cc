#include "tests/conformance/options.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/worker.h"

namespace superfluid::conformance {
namespace {

std::variant<Options, Leave> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "conformance");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

int CodeOf(const std::variant<Options, Leave>& parsed) {
  const auto* leave = std::get_if<Leave>(&parsed);
  return leave == nullptr ? -1 : leave->code;
}

TEST(OptionsTest, HelpNamesTheExitCodes) {
  const auto help = Parse({"--help"});
  EXPECT_EQ(CodeOf(help), 0);
  EXPECT_NE(std::get<Leave>(help).out.find("Exit codes"), std::string::npos);
}

TEST(OptionsTest, OneOfTheTwoWorkersIsNeeded) {
  EXPECT_EQ(CodeOf(Parse({})), 2);
  EXPECT_EQ(CodeOf(Parse({"--worker", "w", "--connect", "s"})), 2);
  EXPECT_EQ(CodeOf(Parse({"--no-such-option"})), 2);
  EXPECT_EQ(CodeOf(Parse({"--list"})), -1);
  EXPECT_EQ(CodeOf(Parse({"--connect", "s"})), -1);
}

TEST(OptionsTest, SlowArgumentsOfSimAreKnown) {
  EXPECT_NE(std::get<Options>(Parse({"--worker", "w --engine sim"})).slow_args, "");
  EXPECT_EQ(std::get<Options>(Parse({"--worker", "w --engine other"})).slow_args, "");
  EXPECT_EQ(std::get<Options>(Parse({"--worker", "w --engine sim", "--slow-args", "-x"})).slow_args,
            "-x");
}

TEST(OptionsTest, GlobsMatchNamesAndIds) {
  const std::string ids = "FRAME-2 ERR-1";
  const std::string name = "FRAME-2,ERR-1 a wrong magic";
  EXPECT_TRUE(Matches("*", ids, name));
  EXPECT_TRUE(Matches("ERR-1", ids, name));
  EXPECT_TRUE(Matches("TICK-*,FRAME-*", ids, name));
  EXPECT_TRUE(Matches("*magic*", ids, name));
  EXPECT_FALSE(Matches("magic", ids, name));
  EXPECT_FALSE(Matches("FRAME-1", ids, name));
  EXPECT_FALSE(Matches("", ids, name));
}

TEST(SplitCommandTest, QuotesKeepSpaces) {
  EXPECT_EQ(SplitCommand(""), std::vector<std::string>());
  EXPECT_EQ(SplitCommand("  a  b "), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(SplitCommand("a 'b c' \"d 'e'\""), (std::vector<std::string>{"a", "b c", "d 'e'"}));
  EXPECT_EQ(SplitCommand("a '' x'y z'"), (std::vector<std::string>{"a", "", "xy z"}));
}

}  // namespace
}  // namespace superfluid::conformance
