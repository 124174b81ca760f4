#include "tools/worker/worker_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

std::variant<WorkerOptions, ParseExit> Parse(std::vector<std::string> arguments,
                                             bool with_socket = true) {
  if (with_socket) arguments.insert(arguments.end(), {"--listen", "/tmp/x.sock"});
  std::vector<const char*> argv = {"superfluid_worker"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return ParseWorkerOptions(static_cast<int>(argv.size()), argv.data());
}

WorkerOptions Good(std::vector<std::string> arguments) {
  auto parsed = Parse(std::move(arguments));
  if (const auto* exit = std::get_if<ParseExit>(&parsed)) {
    ADD_FAILURE() << exit->out << exit->err;
    return {};
  }
  return std::get<WorkerOptions>(std::move(parsed));
}

// What a wrong command line prints; it exits with 2.
std::string Wrong(std::vector<std::string> arguments, bool with_socket = true) {
  const auto parsed = Parse(std::move(arguments), with_socket);
  const auto* exit = std::get_if<ParseExit>(&parsed);
  if (exit == nullptr) return "it was accepted";
  EXPECT_EQ(exit->code, 2);
  EXPECT_EQ(exit->out, "");
  EXPECT_THAT(exit->err, HasSubstr("Run with --help for more information.\n"));
  return exit->err.substr(0, exit->err.find('\n'));
}

TEST(WorkerOptionsTest, Defaults) {
  const WorkerOptions options = Good({});
  EXPECT_EQ(options.engine, "pocketsphinx");
  EXPECT_EQ(options.listen_path, "/tmp/x.sock");
  EXPECT_EQ(options.media_root, "/");
  EXPECT_EQ(options.model_root, "/");
  EXPECT_EQ(options.on_disconnect, OnDisconnect::kKeepCache);
  EXPECT_EQ(options.drain_patience, absl::Seconds(30));
  EXPECT_EQ(options.log.level, "info");
  EXPECT_EQ(options.sandbox, SandboxProfile::kOff);
}

TEST(WorkerOptionsTest, NamesASandbox) {
  EXPECT_EQ(Good({"--sandbox", "cpu"}).sandbox, SandboxProfile::kCpu);
  EXPECT_EQ(Good({"--sandbox", "device"}).sandbox, SandboxProfile::kDevice);
  EXPECT_EQ(Wrong({"--sandbox", "on"}), "--sandbox: 'on' is none of off, cpu, device");
}

TEST(WorkerOptionsTest, TakesWhatIsGiven) {
  const WorkerOptions options = Good({"--engine",
                                      "sim",
                                      "--engine-option",
                                      "step_us=5",
                                      "--engine-option",
                                      "script=a=b",
                                      "--model",
                                      "/m",
                                      "--device",
                                      "3",
                                      "--media-root",
                                      "/srv/audio",
                                      "--model-root",
                                      "/srv/models",
                                      "--drain-ms",
                                      "0",
                                      "--allow-uid",
                                      "12",
                                      "--allow-uid",
                                      "4294967294",
                                      "--max-transcriptions",
                                      "7",
                                      "--log-level",
                                      "warn"});
  EXPECT_THAT(options.engine_config.options,
              ElementsAre(Pair("step_us", "5"), Pair("script", "a=b")));
  EXPECT_EQ(options.engine_config.model_path, "/m");
  EXPECT_EQ(options.engine_config.device, 3);
  EXPECT_EQ(options.media_root, "/srv/audio");
  EXPECT_EQ(options.model_root, "/srv/models");
  EXPECT_EQ(options.drain_patience, absl::ZeroDuration());
  EXPECT_THAT(options.allowed_uids, ElementsAre(12u, 4294967294u));
  EXPECT_EQ(options.max_transcriptions, 7u);
  EXPECT_EQ(options.log.level, "warn");
}

TEST(WorkerOptionsTest, OnDisconnect) {
  EXPECT_EQ(Good({"--on-disconnect", "keep-cache"}).on_disconnect, OnDisconnect::kKeepCache);
  EXPECT_EQ(Good({"--on-disconnect", "reset"}).on_disconnect, OnDisconnect::kReset);
  EXPECT_EQ(Good({"--on-disconnect", "exit"}).on_disconnect, OnDisconnect::kExit);
  EXPECT_EQ(Wrong({"--on-disconnect", "never"}),
            "--on-disconnect: 'never' is none of keep-cache, reset, exit");
}

TEST(WorkerOptionsTest, NumbersSayTheirUnitAndRange) {
  EXPECT_EQ(Wrong({"--drain-ms", "abc"}),
            "--drain-ms: 'abc' is not a number of milliseconds from 0 to 86400000");
  EXPECT_EQ(Wrong({"--step-ms", "0"}),
            "--step-ms: '0' is not a number of milliseconds from 1 to 1000");
  EXPECT_EQ(Wrong({"--device", "99999999999999999999"}),
            "--device: '99999999999999999999' is not a whole number from 0 to 1023");
  EXPECT_EQ(Wrong({"--threads", "1.5"}), "--threads: '1.5' is not a whole number from 0 to 4096");
  EXPECT_EQ(Wrong({"--allow-uid", "bob"}),
            "--allow-uid: 'bob' is not a number of a user from 0 to 4294967294");
  EXPECT_EQ(Wrong({"--frames-fd", "-3"}, false),
            "--frames-fd: '-3' is not a whole number from 0 to 1048576");
}

TEST(WorkerOptionsTest, OtherMistakes) {
  EXPECT_EQ(Wrong({"--log-name", "a b"}),
            "--log-name: 'a b' is not a plain name: letters, digits, -, _ and ., 128 at most");
  EXPECT_THAT(Wrong({"--log-name", std::string(129, 'w')}), HasSubstr("is not a plain name"));
  EXPECT_EQ(Wrong({"--log-format", "xml"}), "--log-format: 'xml' is none of logfmt, json");
  EXPECT_EQ(Wrong({"--log-level", "loud"}),
            "--log-level: 'loud' is none of trace, debug, info, warn, error, off");
  EXPECT_EQ(Wrong({"--media-root", "audio"}), "--media-root: 'audio' is not an absolute path");
  EXPECT_EQ(Wrong({"--model-root", ""}), "--model-root: '' is not an absolute path");
  EXPECT_EQ(Wrong({"--engine-option", "=x"}), "--engine-option '=x' is not of the form key=value");
  EXPECT_THAT(Wrong({"--colour"}), HasSubstr("--colour"));
  EXPECT_THAT(Wrong({}, false), HasSubstr("no socket given"));
  EXPECT_EQ(Wrong({"--fds-fd", "4"}, false), "--fds-fd requires --frames-fd");
  EXPECT_EQ(Wrong({"--frames-fd", "4"}), "--listen excludes --frames-fd");
}

TEST(WorkerOptionsTest, TheLogHasAFormat) {
  EXPECT_EQ(Good({}).log.format, LogFormat::kLogfmt);
  EXPECT_EQ(Good({"--log-format", "logfmt"}).log.format, LogFormat::kLogfmt);
  EXPECT_EQ(Good({"--log-format", "json"}).log.format, LogFormat::kJson);
}

TEST(WorkerOptionsTest, WhatIsWrongIsJsonIfTheLogIs) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--log-format", "json", "--colour"},
        std::vector<std::string>{"--colour", "--log-format=json"}}) {
    const auto parsed = Parse(arguments);
    const auto* exit = std::get_if<ParseExit>(&parsed);
    ASSERT_NE(exit, nullptr);
    EXPECT_EQ(exit->code, 2);
    EXPECT_THAT(exit->err, StartsWith("{\"time\":\""));
    EXPECT_THAT(exit->err, HasSubstr("\"event\":\"worker.cannot_start\",\"error\":\""));
    EXPECT_THAT(exit->err, HasSubstr("--colour"));
    EXPECT_EQ(exit->err.find('\n'), exit->err.size() - 1);
  }
  EXPECT_THAT(Wrong({"--log-format=json", "--log-format=logfmt", "--colour"}),
              Not(StartsWith("{")));
}

TEST(WorkerOptionsTest, TheSocketHasAModeAndAGroup) {
  EXPECT_EQ(Good({}).socket_mode, std::nullopt);
  EXPECT_EQ(Good({"--socket-mode", "0640"}).socket_mode, 0640U);
  EXPECT_EQ(Good({"--socket-group", "0"}).socket_group, 0U);
  EXPECT_EQ(Good({"--socket-group", "root"}).socket_group, 0U);
  EXPECT_EQ(Good({"--socket-group", "root"}).socket_mode, 0660U);
  EXPECT_EQ(Good({"--socket-group", "root", "--socket-mode", "620"}).socket_mode, 0620U);
  EXPECT_EQ(Wrong({"--socket-mode", "0888"}),
            "--socket-mode '0888' is not octal permissions from 0 to 0777");
  EXPECT_EQ(Wrong({"--socket-mode", "1777"}),
            "--socket-mode '1777' is not octal permissions from 0 to 0777");
  EXPECT_EQ(Wrong({"--socket-group", "no-such-group"}),
            "--socket-group 'no-such-group': there is no such group");
  EXPECT_EQ(Wrong({"--frames-fd", "3", "--socket-mode", "0660"}, false),
            "--socket-mode requires --listen");
}

TEST(WorkerOptionsTest, OneSocketMayBeHandedOver) {
  const std::vector<const char*> none = {"superfluid_worker"};
  const auto taken = ParseWorkerOptions(1, none.data(), {3});
  ASSERT_TRUE(std::holds_alternative<WorkerOptions>(taken));
  EXPECT_EQ(std::get<WorkerOptions>(taken).activated_fd, 3);
  const auto two = ParseWorkerOptions(1, none.data(), {3, 4});
  EXPECT_THAT(std::get<ParseExit>(two).err, HasSubstr("more than one socket was handed over"));
  const std::vector<const char*> both = {"superfluid_worker", "--listen", "/tmp/x.sock"};
  EXPECT_THAT(std::get<ParseExit>(ParseWorkerOptions(3, both.data(), {3})).err,
              HasSubstr("give neither --listen nor --frames-fd"));
}

TEST(WorkerOptionsTest, HelpShowsRangesDefaultsAndSignals) {
  const auto parsed = Parse({"--help"}, false);
  const auto* exit = std::get_if<ParseExit>(&parsed);
  ASSERT_NE(exit, nullptr);
  EXPECT_EQ(exit->code, 0);
  for (const char* part : {"--model-root", "adapters and strategy artifacts", "SIGHUP",
                           "keep-cache|reset|exit", "0 to 86400000"}) {
    EXPECT_THAT(exit->out, HasSubstr(part));
  }
}

TEST(WorkerOptionsTest, Version) {
  const auto parsed = Parse({"--version"}, false);
  const auto* exit = std::get_if<ParseExit>(&parsed);
  ASSERT_NE(exit, nullptr);
  EXPECT_EQ(exit->code, 0);
  EXPECT_EQ(exit->out, WorkerVersion() + "\n");
}

}  // namespace
}  // namespace superfluid
