#include "tools/superfluidd/config_file.h"

#include <cstdlib>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace superfluid::daemon {
namespace {

constexpr char kGood[] = R"(
[server]
listen = ["127.0.0.1:0", "unix:/tmp/x"]
worker = "/bin/worker"
drain_ms = 1500
log_level = "warn"

[limits]
upload_mb = 3
upload_memory_mb = 9
waiting = 7
waiting_of_key = 5
deadline_ms = 60000

[[model]]
name = "small"
aliases = ["whisper-1", "*"]
engine = "sim"
devices = "cpu:2"
places = 3
threads = 2
cpus = [[0, 1], [2]]
[model.options]
step_us = 2000
script = "a|b"
partials = true

[[model]]
engine = "whisper"
path = "/models/w.bin"
devices = "1,3"

[[key]]
name = "team"
sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
priority = 2
)";

std::string ErrorOf(const std::string& text) {
  DaemonConfig config;
  config.models = {ModelConfig{}};
  const absl::Status status = ReadConfig(text, "f.toml", config);
  return std::string(status.message());
}

TEST(ConfigFileTest, ReadsEverything) {
  DaemonConfig config;
  config.models = {ModelConfig{.name = "of the command line"}};
  const absl::Status status = ReadConfig(kGood, "f.toml", config);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(config.listen, (std::vector<std::string>{"127.0.0.1:0", "unix:/tmp/x"}));
  EXPECT_EQ(config.drain, absl::Milliseconds(1500));
  EXPECT_EQ(config.max_upload_bytes, uint64_t{3} << 20);
  EXPECT_EQ(config.max_waiting, 7u);
  ASSERT_EQ(config.models.size(), 2u);
  EXPECT_EQ(config.models[0].aliases.size(), 2u);
  EXPECT_EQ(NameOf(config.models[1]), "whisper");
  ASSERT_EQ(config.keys.size(), 1u);
  EXPECT_EQ(config.keys[0].priority, 2);
}

TEST(ConfigFileTest, ModelsBecomeWorkers) {
  DaemonConfig config;
  ASSERT_TRUE(ReadConfig(kGood, "f.toml", config).ok());
  const auto workers = WorkersOf(config, 0, 4);
  ASSERT_TRUE(workers.ok()) << workers.status();
  ASSERT_EQ(workers->size(), 4u);
  EXPECT_EQ((*workers)[0].model, "small");
  EXPECT_EQ((*workers)[0].places, 3u);
  EXPECT_EQ((*workers)[0].command.program, "/bin/worker");
  EXPECT_EQ((*workers)[0].command.arguments,
            (std::vector<std::string>{"--engine", "sim", "--engine-option", "partials=1",
                                      "--engine-option", "script=a|b", "--engine-option",
                                      "step_us=2000", "--threads", "2", "--log-level", "warn"}));
  EXPECT_EQ((*workers)[1].command.cpus, (std::vector<int>{2}));
  EXPECT_EQ((*workers)[3].command.arguments[4], "--device");
  EXPECT_EQ((*workers)[3].command.arguments[5], "3");
}

TEST(ConfigFileTest, AutoLooksAtTheMachine) {
  DaemonConfig config;
  config.models = {ModelConfig{.engine = "whisper"}};
  EXPECT_EQ(WorkersOf(config, 2, 8)->size(), 2u);
  EXPECT_EQ(WorkersOf(config, 0, 8)->size(), 1u);
  config.models = {ModelConfig{.engine = "pocketsphinx"}};
  EXPECT_EQ(WorkersOf(config, 2, 3)->size(), 3u);
  EXPECT_EQ(WorkersOf(config, 0, 64)->size(), 4u);
  config.models[0].devices = "gpu";
  EXPECT_FALSE(WorkersOf(config, 0, 1).ok());
  config.models[0].devices = "cpu:0";
  EXPECT_FALSE(WorkersOf(config, 0, 1).ok());
}

TEST(ConfigFileTest, ErrorsNameTheirPlace) {
  EXPECT_EQ(ErrorOf("[server]\nlisten = 3\n"), "f.toml:2:10: this is to be a list of texts");
  EXPECT_EQ(ErrorOf("[limits]\nwaiting = -1\n"),
            "f.toml:2:11: this is to be a whole number from 0 to 1000000");
  EXPECT_EQ(ErrorOf("[sever]\n"), "f.toml:1:1: there is no key 'sever'");
  EXPECT_NE(ErrorOf("[[model]]\nname = \"a\"\n[[model]]\nname = \"a\"\n").find("two models"),
            std::string::npos);
  EXPECT_NE(ErrorOf("[[key]]\nname = \"a\"\nsha256 = \"ABC\"\n").find("sha256"), std::string::npos);
  EXPECT_NE(ErrorOf("[server]\ntls_key = \"k\"\n").find("go together"), std::string::npos);
  EXPECT_NE(ErrorOf("x = ").find("f.toml:1:"), std::string::npos);
  EXPECT_NE(ErrorOf("model = []").find("no model"), std::string::npos);
  EXPECT_NE(ErrorOf("model = [1]").find("table"), std::string::npos);
}

TEST(ConfigFileTest, AFileThatIsMissingIsSaid) {
  DaemonConfig config;
  EXPECT_TRUE(absl::IsNotFound(ReadConfigFile("/nonexistent/f.toml", config)));
}

// Whatever the file holds, it is read or refused.
TEST(ConfigFileTest, ATableWithoutANameIsAnError) {
  for (const char* text : {"[ =]", "[ #]", "x = 1\n[.a]", "[[ =]]", "[[[a]]]", "[", "[["}) {
    DaemonConfig config;
    EXPECT_FALSE(ReadConfig(text, "f.toml", config).ok()) << text;
  }
}

TEST(ConfigFileTest, SurvivesMutations) {
  const char* given = std::getenv("SUPERFLUID_SEED");
  std::mt19937_64 random(given != nullptr ? std::strtoull(given, nullptr, 10) : 20261203);
  size_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = kGood;
    for (auto i = 1 + random() % 3; i > 0; --i) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random() % 128);
      } else {
        text.erase(at, 1 + random() % 20);
      }
    }
    DaemonConfig config;
    if (!ReadConfig(text, "f.toml", config).ok()) ++refused;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, 2000u);
}

}  // namespace
}  // namespace superfluid::daemon
