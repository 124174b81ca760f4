// Token generation through the real worker and the real superfluidctl: what a user would type.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

struct Ran {
  int code = -1;
  std::string out;  // standard output and error
};

// Runs superfluidctl with `arguments`, which the shell splits.
Ran Ctl(const WorkerProcess& worker, const std::string& arguments) {
  const std::string command = "timeout 60 tools/ctl/superfluidctl --connect '" + worker.socket() +
                              "' " + arguments + " 2>&1";
  Ran ran;
  FILE* const pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  if (pipe == nullptr) return ran;
  std::array<char, 4096> block{};
  for (size_t got = 0; (got = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    ran.out.append(block.data(), got);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

// The "tokens" list of the JSON result.
std::string TokensOf(const std::string& json) {
  const size_t result = json.find("\"event\":\"result\"");
  const size_t start = json.find("\"tokens\":[", result == std::string::npos ? 0 : result);
  const size_t end = json.find(']', start);
  if (start == std::string::npos || end == std::string::npos) return "none in " + json;
  return json.substr(start, end - start);
}

const std::vector<std::string> kSim = {"--engine", "sim"};

TEST(GenerationTest, ASnapshotSurvivesTheWorker) {
  std::string whole;
  std::string file;
  {
    WorkerProcess worker(kSim);
    ASSERT_NE(worker.Connect(), nullptr);
    const Ran plain = Ctl(worker,
                          "generate --text 'Once upon a time' --max-tokens 40 --json "
                          "--no-stream");
    ASSERT_EQ(plain.code, 0) << plain.out;
    whole = TokensOf(plain.out);
    file = testing::TempDir() + "/talk.sfl";
    const Ran saved = Ctl(worker, "snapshot '" + file + "' --force --text 'Once upon a time'");
    ASSERT_EQ(saved.code, 0) << saved.out;
  }
  WorkerProcess another(kSim);
  ASSERT_NE(another.Connect(), nullptr);
  const Ran restored = Ctl(another, "restore '" + file + "' --max-tokens 40 --json --no-stream");
  ASSERT_EQ(restored.code, 0) << restored.out;
  EXPECT_EQ(TokensOf(restored.out), whole);
}

TEST(GenerationTest, AGrammarHolds) {
  WorkerProcess worker(kSim);
  ASSERT_NE(worker.Connect(), nullptr);
  const std::string schema = testing::TempDir() + "/schema.json";
  FILE* const file = std::fopen(schema.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(R"({"enum": ["yes", "no"]})", file);
  ASSERT_EQ(std::fclose(file), 0);
  const Ran ran = Ctl(worker, "generate --text '?' --json-schema '" + schema + "' --no-stream");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_TRUE(ran.out.find("\"yes\"") == 0 || ran.out.find("\"no\"") == 0) << ran.out;
}

TEST(GenerationTest, TopAndMemLookOnWhileAnotherDrives) {
  WorkerProcess worker(kSim);
  const auto driver = worker.Connect();
  ASSERT_NE(driver, nullptr);
  const Ran memory = Ctl(worker, "mem --json");
  EXPECT_EQ(memory.code, 0) << memory.out;
  EXPECT_NE(memory.out.find("pool_blocks_total"), std::string::npos) << memory.out;
  const Ran top = Ctl(worker, "top --count 1");
  EXPECT_EQ(top.code, 0) << top.out;
  EXPECT_NE(top.out.find("tokens"), std::string::npos) << top.out;
}

// More than the links that a worker takes.
TEST(GenerationTest, EveryoneWhoWaitsIsServed) {
  WorkerProcess worker(kSim);
  ASSERT_NE(worker.Connect(), nullptr);
  const std::string command =
      "for i in $(seq 100); do tools/ctl/superfluidctl --connect '" + worker.socket() +
      "' --wait --timeout 10m generate 1 --max-tokens 2 > /dev/null & all=\"$all $!\"; done; "
      "failed=0; for one in $all; do wait $one || failed=$((failed + 1)); done; exit $failed";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "so many were not served";
}

TEST(GenerationTest, DrainEndsTheWorkerThoughAnotherDrives) {
  WorkerProcess worker(kSim);
  const auto driver = worker.Connect();
  ASSERT_NE(driver, nullptr);
  const Ran drained = Ctl(worker, "drain");
  EXPECT_EQ(drained.code, 0) << drained.out;
  EXPECT_EQ(worker.Wait(), 0);
}

}  // namespace
}  // namespace superfluid
