#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/temp_file.h"
#include "tests/tools/ctl/token_worker.h"

namespace superfluid::ctl {
namespace {

using linkw::DriverMessage;
using linkw::LaneKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Tokens = std::vector<linkw::Token>;

class GenerateCommandTest : public CommandTest {
 protected:
  static std::string Ids(const Tokens& tokens) { return absl::StrJoin(tokens, " "); }

  static std::string Text(const Tokens& tokens) { return {tokens.begin(), tokens.end()}; }
};

// ---- What is printed

TEST_F(GenerateCommandTest, PrintsTokenIdsAndASummary) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "1", "2", "3", "--max-tokens", "40"}), ExitCode::kOk)
      << err_.text;
  EXPECT_EQ(out_.text, Ids(TokenWorker::Draw({1, 2, 3}, 40)) + "\n");
  EXPECT_THAT(err_.text, StartsWith("40 tokens in "));
  EXPECT_THAT(err_.text, HasSubstr(" tokens/s), 3 ticks, prompt of 3, first after "));
  EXPECT_THAT(err_.text, testing::EndsWith("; ended by: max-tokens\n"));
  EXPECT_EQ(worker.worker.WaitFor<linkw::Hello>().role, linkw::Role::kDriver);
}

TEST_F(GenerateCommandTest, TakesTokensWithCommas) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "1,2", "3", "--max-tokens", "1"}), ExitCode::kOk);
  EXPECT_EQ(out_.text, Ids(TokenWorker::Draw({1, 2, 3}, 1)) + "\n");
}

TEST_F(GenerateCommandTest, PrintsTextForText) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "--text", "hi", "--max-tokens", "40"}), ExitCode::kOk);
  EXPECT_EQ(out_.text, Text(TokenWorker::Draw({'h', 'i'}, 40)) + "\n");
}

TEST_F(GenerateCommandTest, ReadsTextFromAFile) {
  TokenWorker worker;
  const std::string path = WriteTempFile("prompt.txt", "hi\xFF");
  EXPECT_EQ(RunWith(worker, {"generate", "--file", path, "--max-tokens", "4"}), ExitCode::kOk);
  EXPECT_EQ(out_.text, Text(TokenWorker::Draw({'h', 'i', 0xFF}, 4)) + "\n");
}

TEST_F(GenerateCommandTest, PrintsAllAtTheEndIfToldTo) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "5", "--max-tokens", "40", "--no-stream"}), ExitCode::kOk);
  EXPECT_EQ(out_.text, Ids(TokenWorker::Draw({5}, 40)) + "\n");
}

TEST_F(GenerateCommandTest, MissesNoTokenWhoseEmitWasDropped) {
  for (const uint32_t first_dropped : {0u, 1u, 15u}) {
    TokenWorker::Script script;
    script.drop_emits_from = first_dropped;
    script.change_result = [](linkw::TickResult& result) { result.events.dropped_emits = 2; };
    TokenWorker worker(script);
    EXPECT_EQ(RunWith(worker, {"generate", "5", "--max-tokens", "40"}), ExitCode::kOk);
    EXPECT_EQ(out_.text, Ids(TokenWorker::Draw({5}, 40)) + "\n");
    EXPECT_THAT(err_.text, HasSubstr("6 emits came late"));
  }
}

TEST_F(GenerateCommandTest, PrintsJson) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "--text", "hi", "--max-tokens", "3", "--json"}),
            ExitCode::kOk);
  EXPECT_EQ(err_.text, "");
  const Tokens drawn = TokenWorker::Draw({'h', 'i'}, 3);
  ASSERT_EQ(OutputLines().size(), 4u);
  const Json first = Json::parse(OutputLines()[1]);
  EXPECT_EQ(first["event"], "tokens");
  EXPECT_EQ(first["lane"], 0);
  EXPECT_EQ(first["index"], 1);
  EXPECT_EQ(first["tokens"], Json(Tokens{drawn[1]}));
  const Json result = LastLine();
  EXPECT_EQ(result["event"], "result");
  EXPECT_EQ(result["status"], "OK");
  EXPECT_EQ(result["lanes"][0]["tokens"], Json(drawn));
  EXPECT_EQ(result["lanes"][0]["text"], Text(drawn));
  EXPECT_EQ(result["lanes"][0]["finish"], "max-tokens");
  EXPECT_EQ(result["lanes"][0]["position"], 5);
  EXPECT_EQ(result["ticks"], 1);
  EXPECT_EQ(result["prompt_tokens"], 2);
  EXPECT_TRUE(result.contains("first_token_ms"));
  EXPECT_FALSE(result.contains("stop_ms"));
}

TEST_F(GenerateCommandTest, PrintsOneJsonObjectWithoutStream) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--json", "--no-stream"}), ExitCode::kOk);
  EXPECT_EQ(OutputLines().size(), 1u);
  EXPECT_FALSE(LastLine()["lanes"][0].contains("text"));
}

TEST_F(GenerateCommandTest, PrintsLogitsAfterEachTick) {
  TokenWorker worker;
  EXPECT_EQ(
      RunWith(worker, {"generate", "1", "--max-tokens", "2", "--tokens-per-tick", "1", "--logits"}),
      ExitCode::kOk);
  const Tokens drawn = TokenWorker::Draw({1}, 2);
  EXPECT_EQ(out_.text, absl::StrCat(drawn[0], "\nlogits at 2: 65=3.25 66=1.5\n", drawn[1],
                                    "\nlogits at 3: 65=3.25 66=1.5\n"));
  EXPECT_TRUE(worker.Plans()[0].lanes[0].want_logits);
}

TEST_F(GenerateCommandTest, PrintsLogitsAsJson) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--max-tokens", "1", "--logits", "--json"}),
            ExitCode::kOk);
  const Json logits = Json::parse(OutputLines()[1]);
  EXPECT_EQ(logits["event"], "logits");
  EXPECT_EQ(logits["position"], 2);
  EXPECT_EQ(logits["top"], Json::parse("[[65,3.25],[66,1.5]]"));
}

// ---- What is asked for

TEST_F(GenerateCommandTest, PassesSamplingOn) {
  TokenWorker worker;
  EXPECT_EQ(
      RunWith(
          worker,
          {"generate", "1",       "--temperature",        "0.5", "--top-k", "40", "--top-p", "0.75",
           "--min-p",  "0.25",    "--repetition-penalty", "1.5", "--seed",  "7",  "--stop",  "400",
           "--stop",   "401,402", "--max-tokens",         "1"}),
      ExitCode::kOk)
      << err_.text;
  const linkw::Lane lane = worker.Plans()[0].lanes[0];
  EXPECT_EQ(lane.sampling, (linkw::Sampling{0.5f, 40, 0.75f, 0.25f, 1.5f, 7}));
  EXPECT_THAT(lane.stop_tokens, ElementsAre(400, 401, 402));
  EXPECT_EQ(out_.text, Ids(TokenWorker::Draw({1}, 1, 7)) + "\n");
}

TEST_F(GenerateCommandTest, EndsAtAStopToken) {
  TokenWorker worker;
  const Tokens drawn = TokenWorker::Draw({1, 2}, 30);
  size_t length = 1;
  while (drawn[length - 1] != drawn[9]) ++length;
  EXPECT_EQ(RunWith(worker, {"generate", "1", "2", "--stop", absl::StrCat(drawn[9])}),
            ExitCode::kOk);
  EXPECT_EQ(out_.text, Ids(Tokens(drawn.begin(), drawn.begin() + static_cast<int>(length))) + "\n");
  EXPECT_THAT(err_.text, HasSubstr("ended by: stop token"));
}

TEST_F(GenerateCommandTest, DrawsInTicksOfTheSizeWanted) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--max-tokens", "10", "--tokens-per-tick", "4"}),
            ExitCode::kOk);
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> inputs;
  for (const linkw::TickPlan& plan : worker.Plans()) {
    EXPECT_EQ(plan.flags, linkw::kTickFlagPartialEmits);
    EXPECT_EQ(plan.tick_id, sizes.size() + 1);
    sizes.push_back(plan.lanes[0].max_tokens);
    inputs.push_back(plan.lanes[0].input.count);
  }
  EXPECT_THAT(sizes, ElementsAre(4, 4, 2));
  EXPECT_THAT(inputs, ElementsAre(1, 0, 0));
}

TEST_F(GenerateCommandTest, SendsALongPromptInChunks) {
  TokenWorker worker;
  const std::string text(10'000, 'x');
  const std::string path = WriteTempFile("long.txt", text);
  EXPECT_EQ(RunWith(worker, {"generate", "--file", path, "--max-tokens", "5"}), ExitCode::kOk);
  const auto plans = worker.Plans();
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0].lanes[0].kind, LaneKind::kPrefill);
  EXPECT_EQ(plans[0].lanes[0].max_tokens, 0u);
  EXPECT_EQ(plans[0].lanes[0].input.count, 4096u);
  EXPECT_EQ(plans[1].lanes[0].kind, LaneKind::kPrefill);
  EXPECT_EQ(plans[2].lanes[0].kind, LaneKind::kDecode);
  EXPECT_EQ(plans[2].lanes[0].input.count, 10'000u - 2 * 4096);
  EXPECT_EQ(out_.text, Text(TokenWorker::Draw(Tokens(10'000, 'x'), 5)) + "\n");
}

TEST_F(GenerateCommandTest, DrawsInSeveralLanes) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "--text", "hi", "--max-tokens", "20", "--lanes", "3",
                             "--seed", "7", "--no-stream"}),
            ExitCode::kOk);
  ASSERT_EQ(OutputLines().size(), 3u);
  for (size_t lane = 0; lane < 3; ++lane) {
    EXPECT_EQ(OutputLines()[lane],
              absl::StrCat("lane ", lane, ": ", Text(TokenWorker::Draw({'h', 'i'}, 20, 7 + lane))));
  }
  EXPECT_THAT(err_.text, StartsWith("60 tokens in "));
  for (const linkw::TickPlan& plan : worker.Plans()) {
    ASSERT_EQ(plan.lanes.size(), 3u);
    for (uint32_t lane = 0; lane < 3; ++lane) {
      EXPECT_EQ(plan.lanes[lane].lane_tag, linkw::LaneTag{lane});
      EXPECT_EQ(plan.lanes[lane].stop_slot, lane + 1);
    }
  }
}

TEST_F(GenerateCommandTest, GoesOnWithTheLanesThatAreNotFinished) {
  TokenWorker worker;
  const Tokens first = TokenWorker::Draw({1}, 30, 0);
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--lanes", "2", "--max-tokens", "30", "--stop",
                             absl::StrCat(first[0]), "--tokens-per-tick", "1"}),
            ExitCode::kOk);
  EXPECT_EQ(worker.Plans()[0].lanes.size(), 2u);
  const linkw::TickPlan last = worker.Plans().back();
  ASSERT_EQ(last.lanes.size(), 1u);
  EXPECT_EQ(last.lanes[0].lane_tag, linkw::LaneTag{1});
}

TEST_F(GenerateCommandTest, MakesAGrammarOfASchema) {
  TokenWorker worker;
  const std::string path = WriteTempFile("schema.json", R"({"type":"object"})");
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--json-schema", path, "--max-tokens", "1"}),
            ExitCode::kOk);
  const auto call = worker.worker.WaitFor<linkw::StateSyncRequest>().call;
  EXPECT_EQ(std::get<linkw::CreateGrammar>(call).json_schema, R"({"type":"object"})");
  EXPECT_EQ(worker.Plans()[0].lanes[0].grammar_handle, linkw::GrammarHandle{77});
}

// ---- Stopping

TEST_F(GenerateCommandTest, StopsAfterATime) {
  TokenWorker worker(UntilStopped());
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--cancel-after", "0", "--max-tokens", "1000"}),
            ExitCode::kCancelled);
  EXPECT_THAT(err_.text, StartsWith("stopped: the worker stopped in "));
  EXPECT_THAT(err_.text, testing::EndsWith("; ended by: stopped\n"));
}

TEST_F(GenerateCommandTest, SaysSoIfItWasFinishedBefore) {
  TokenWorker worker;
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--cancel-after", "3600000"}), ExitCode::kOk);
  EXPECT_THAT(err_.text, StartsWith("64 tokens"));
}

TEST_F(GenerateCommandTest, StopsWhenTheReaderLeft) {
  TokenWorker worker(UntilStopped());
  out_status_ = absl::AbortedError("gone");
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--max-tokens", "1000"}), ExitCode::kOutputClosed);
  EXPECT_EQ(err_.text, "");
}

TEST_F(GenerateCommandTest, StopsWhenTheOutputFails) {
  TokenWorker worker(UntilStopped());
  out_status_ = absl::InternalError("cannot write the output: disk full");
  EXPECT_EQ(RunWith(worker, {"generate", "1", "--max-tokens", "1000"}), ExitCode::kFailed);
  EXPECT_EQ(err_.text, "superfluidctl: cannot write the output: disk full\n");
}

TEST_F(GenerateCommandTest, GivesUpOnAWorkerThatDoesNotAnswer) {
  TokenWorker::Script script;
  script.instead = [](FakeLink&, uint64_t, const DriverMessage& message) {
    return std::holds_alternative<linkw::TickSubmit>(message);
  };
  TokenWorker worker(script);
  EXPECT_EQ(RunWith(worker, {"--timeout", "100ms", "generate", "1"}), ExitCode::kDeadline);
  EXPECT_THAT(err_.text, HasSubstr("did not answer a tick within 100 ms"));
}

TEST_F(GenerateCommandTest, HelpExplainsVocabulariesAndSequences) {
  EXPECT_EQ(Run({"generate", "--help"}), ExitCode::kOk);
  EXPECT_THAT(out_.text, HasSubstr("vocab_size"));
  EXPECT_THAT(out_.text, HasSubstr("belongs to the link"));
}

}  // namespace
}  // namespace superfluid::ctl
