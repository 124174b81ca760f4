#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/temp_file.h"
#include "tests/tools/ctl/token_worker.h"

// What can go wrong with generate.
namespace superfluid::ctl {
namespace {

using linkw::DriverMessage;
using linkw::Status;
using testing::HasSubstr;
using testing::StartsWith;

using GenerateFailureTest = CommandTest;

TEST_F(GenerateFailureTest, ReportsUsageErrors) {
  const std::vector<std::vector<std::string>> bad = {{},
                                                     {"1", "--text", "a"},
                                                     {"--text", "a", "--file", "b"},
                                                     {"--text", ""},
                                                     {"x"},
                                                     {"-1"},
                                                     {"1", "--max-tokens", "0"},
                                                     {"1", "--lanes", "0"},
                                                     {"1", "--lanes", "257"},
                                                     {"1", "--lanes", "33", "--logits"},
                                                     {"1", "--tokens-per-tick", "0"},
                                                     {"1", "--tokens-per-tick", "1025"},
                                                     {"1", "--temperature", "-1"},
                                                     {"1", "--temperature", "nan"},
                                                     {"1", "--top-p", "2"},
                                                     {"1", "--stop", "x"},
                                                     {"1", "--seed", "x"}};
  for (std::vector<std::string> arguments : bad) {
    arguments.insert(arguments.begin(), {"--connect", "/nowhere", "generate"});
    EXPECT_EQ(Run(arguments), ExitCode::kUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(err_.text, StartsWith("superfluidctl: "));
  }
}

TEST_F(GenerateFailureTest, ReportsFilesThatItCannotRead) {
  for (const std::string option : {"--file", "--json-schema"}) {
    std::vector<std::string> arguments = {"--connect", "/x", "generate", option, "/nowhere/f"};
    if (option == "--json-schema") arguments.emplace_back("1");
    EXPECT_EQ(Run(arguments), ExitCode::kFailed);
    EXPECT_THAT(err_.text, HasSubstr("cannot read /nowhere/f"));
  }
}

TEST_F(GenerateFailureTest, RefusesWhatThisEngineCannotTake) {
  struct Case {
    std::function<void(linkw::HelloAck&)> change;
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::vector<Case> cases = {
      {[](auto& hello) { hello.limits.max_lanes = 0; }, {"1"}, "does not generate tokens"},
      {[](auto& hello) { hello.limits.max_lanes = 2; }, {"1", "--lanes", "3"}, "at most 2 lanes"},
      {[](auto&) {}, {"300"}, "token 300 is outside this engine's vocabulary of 300"},
      {[](auto& hello) { hello.capabilities_json = R"({"vocab_size":32000})"; },
       {"--text", "a"},
       "vocabulary of 32000 tokens is not bytes"},
      {[](auto& hello) { hello.capabilities_json = "no json"; },
       {"--text", "a"},
       "unknown size is not bytes"},
      {[](auto& hello) { hello.capabilities_json = R"({"vocab_size":300,"context_tokens":2})"; },
       {"1", "2", "3"},
       "longer than this engine's context of 2"},
      {[](auto& hello) { hello.limits.ring_specs.clear(); }, {"1"}, "announced no ring 1"}};
  for (const Case& test : cases) {
    TokenWorker worker;
    test.change(worker.hello());
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
    EXPECT_EQ(RunWith(worker, arguments), ExitCode::kFailed);
    EXPECT_THAT(err_.text, HasSubstr(test.says));
    EXPECT_EQ(out_.text, "");
  }
}

TEST_F(GenerateFailureTest, PrintsTheStatusOfATickThatFails) {
  TokenWorker::Script script;
  script.change_result = [](linkw::TickResult& result) {
    result = {Status::kEngineFailed, "it broke", {}};
  };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"generate", "1"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("generate: ENGINE_FAILED: it broke; "));
  TokenWorker again(script);
  EXPECT_EQ(RunWith(again, {"generate", "1", "--json"}), ExitCode::kFailed);
  EXPECT_EQ(LastLine()["status"], "ENGINE_FAILED");
}

TEST_F(GenerateFailureTest, PrintsTheStatusOfALaneThatFails) {
  TokenWorker::Script script;
  script.change_result = [](linkw::TickResult& result) {
    result.events.lanes[1] = {.lane_tag = linkw::LaneTag{1},
                              .finish_reason = linkw::FinishReason::kError,
                              .status = Status::kOutOfMemory,
                              .message = "no room"};
  };
  script.emits = false;
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--lanes", "2", "--max-tokens", "3"}),
            ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("generate: lane 1: OUT_OF_MEMORY: no room"));
  EXPECT_THAT(out_.text, StartsWith("lane 0: ")) << "the other one goes on";
}

TEST_F(GenerateFailureTest, PrintsErrorFrames) {
  for (const bool schema : {false, true}) {
    TokenWorker::Script script;
    script.instead = [](FakeLink& link, uint64_t seq, const DriverMessage& message) {
      const bool mine = std::holds_alternative<linkw::TickSubmit>(message) ||
                        std::holds_alternative<linkw::StateSyncRequest>(message);
      if (mine) link.Send(linkw::Error{.status = Status::kDraining, .message = "drains"}, seq);
      return mine;
    };
    TokenWorker worker(script);
    std::vector<std::string> arguments = {"generate", "1"};
    if (schema) {
      arguments.insert(arguments.end(), {"--json-schema", WriteTempFile("schema.json", "{}")});
    }
    EXPECT_EQ(RunWith(worker, arguments), ExitCode::kFailed);
    EXPECT_THAT(err_.text, HasSubstr("DRAINING: drains; "));
  }
}

TEST_F(GenerateFailureTest, ReportsAWorkerThatVanishes) {
  TokenWorker::Script script;
  script.instead = [](FakeLink& link, uint64_t, const DriverMessage& message) {
    if (!std::holds_alternative<linkw::TickSubmit>(message)) return false;
    link.Close();
    return true;
  };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"generate", "1"}), ExitCode::kNoLink);
  EXPECT_THAT(err_.text, HasSubstr("LINK_CLOSED"));
}

TEST_F(GenerateFailureTest, ReportsAWorkerThatMakesNoSense) {
  struct Case {
    std::function<void(linkw::TickResult&)> change;
    std::string says;
  };
  const std::vector<Case> cases = {
      {[](auto& result) { result.events.lanes[0].lane_tag = linkw::LaneTag{9}; }, "lane 9"},
      {[](auto& result) { result.events.lanes[0].out.count = 4'000'000'000; }, "4000000000 words"},
      {[](auto& result) { result.events.lanes[0].out.generation += 2; }, "REJECT_BAD_REF"},
      {[](auto& result) { result.events.lanes[0].out = {}; }, "other tokens than it put"}};
  for (const Case& test : cases) {
    TokenWorker::Script script;
    script.change_result = test.change;
    TokenWorker worker(script);
    EXPECT_EQ(RunWith(worker, {"generate", "1"}), ExitCode::kFailed);
    EXPECT_THAT(err_.text, HasSubstr(test.says));
  }
}

TEST_F(GenerateFailureTest, DoesNotWaitForEverForAWorkerThatDrawsNothing) {
  TokenWorker::Script script;
  script.emits = false;
  script.change_result = [](linkw::TickResult& result) { result.events.lanes[0].out = {}; };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"generate", "1"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("draws no tokens"));
}

}  // namespace
}  // namespace superfluid::ctl
