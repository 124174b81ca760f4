// --engine-option help, of the real worker.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Ran {
  std::string out;
  int code = -1;
};

Ran RunShell(const std::string& arguments) {
  Ran ran;
  std::FILE* const pipe = popen(("tools/worker/superfluid_worker " + arguments).c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  if (pipe == nullptr) return ran;
  std::array<char, 4096> piece;
  while (const size_t got = std::fread(piece.data(), 1, piece.size(), pipe)) {
    ran.out.append(piece.data(), got);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

TEST(EngineOptionsTest, HelpPrintsWhatTheEngineTakes) {
  const Ran sim = RunShell("--engine sim --engine-option help");
  EXPECT_EQ(sim.code, 0);
  EXPECT_THAT(sim.out, StartsWith("options of the engine sim, each --engine-option NAME=VALUE:\n"));
  EXPECT_THAT(sim.out, HasSubstr("\nsegment_ms: audio of one segment (a whole number from 10 to "
                                 "60000; default 1000)\n"));
  const Ran usual = RunShell("--engine-option help --listen /tmp/not-made.sock");
  EXPECT_EQ(usual.code, 0);
  EXPECT_THAT(usual.out, HasSubstr("\npool: transcriptions at once"));
}

TEST(EngineOptionsTest, AnEngineThatSaysNothingIsAnError) {
  const Ran ran =
      RunShell("--engine tests/integration/libsuperfluid_prints.so --engine-option help 2>&1");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, HasSubstr("does not say which options it has"));
}

TEST(EngineOptionsTest, AnUnknownNameIsSuggested) {
  const Ran ran =
      RunShell("--engine sim --engine-option segmentms=5 --listen /tmp/not-made.sock 2>&1");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, HasSubstr("segment_ms"));
}

}  // namespace
}  // namespace superfluid
