// The engine that the README begins with is one, and is what it shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "engine/loader/loader.h"

namespace superfluid {
namespace {

std::string FileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ReadmeTest, ShowsTheSmallestEngine) {
  const std::string source = FileText("engine/examples/smallest_engine.c");
  ASSERT_GT(source.size(), 500U);
  EXPECT_THAT(FileText("engine/examples/README.md"), ::testing::HasSubstr(source));
}

TEST(ReadmeTest, TheSmallestEngineLoadsAndCanDoNothing) {
  const auto engine = LoadEngine("engine/examples/libsuperfluid_smallest.so", {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ((*engine)->info().name, "mine");
  EXPECT_EQ((*engine)->generation(), nullptr);
  EXPECT_EQ((*engine)->StartTranscription({}, nullptr).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace superfluid
