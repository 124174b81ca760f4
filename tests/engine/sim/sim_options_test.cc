#include "engine/sim/sim_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/engine/abi/engine_test_util.h"

namespace superfluid {
namespace {

using testing::ConfigWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status ErrorOf(const std::string& key, const std::string& value) {
  return ParseSimOptions(ConfigWith({{key, value}})).status();
}

TEST(SimOptionsTest, HasDefaults) {
  const auto options = ParseSimOptions({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->segments, 0);
  EXPECT_EQ(options->segment_ms, 1000);
  EXPECT_EQ(options->steps_per_segment, 10);
  EXPECT_EQ(options->step, absl::ZeroDuration());
  EXPECT_EQ(options->faults.stuck_at_step, 0);
}

TEST(SimOptionsTest, ReadsEveryKey) {
  const auto options = ParseSimOptions(ConfigWith({{"max_transcriptions", "2"},
                                                   {"work", "busy"},
                                                   {"segments", "3"},
                                                   {"segment_ms", "500"},
                                                   {"steps_per_segment", "4"},
                                                   {"step_us", "250"},
                                                   {"words", "6"},
                                                   {"partials", "0"},
                                                   {"script", "one two|three"},
                                                   {"stuck_at_step", "7"},
                                                   {"stuck_ms", "8"},
                                                   {"slow_at_step", "9"},
                                                   {"slow_us", "10"},
                                                   {"crash_at_step", "14"},
                                                   {"fail_at_step", "11"},
                                                   {"throw_at_step", "12"},
                                                   {"out_of_memory_at_step", "13"},
                                                   {"fail_start", "1"},
                                                   {"emit_after_cancel", "1"},
                                                   {"backwards_times", "1"},
                                                   {"invalid_utf8", "1"}}));
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->max_transcriptions, 2);
  EXPECT_EQ(options->work, SimWork::kBusy);
  EXPECT_EQ(options->segments, 3);
  EXPECT_EQ(options->segment_ms, 500);
  EXPECT_EQ(options->steps_per_segment, 4);
  EXPECT_EQ(options->faults.crash_at_step, 14);
  EXPECT_EQ(options->step, absl::Microseconds(250));
  EXPECT_EQ(options->words, 6);
  EXPECT_FALSE(options->partials);
  EXPECT_THAT(options->script, ElementsAre("one two", "three"));
  const SimFaults& faults = options->faults;
  EXPECT_EQ(faults.stuck_at_step, 7);
  EXPECT_EQ(faults.stuck, absl::Milliseconds(8));
  EXPECT_EQ(faults.slow_at_step, 9);
  EXPECT_EQ(faults.slow, absl::Microseconds(10));
  EXPECT_EQ(faults.fail_at_step, 11);
  EXPECT_EQ(faults.throw_at_step, 12);
  EXPECT_EQ(faults.out_of_memory_at_step, 13);
  EXPECT_TRUE(faults.fail_start && faults.emit_after_cancel);
  EXPECT_TRUE(faults.backwards_times && faults.invalid_utf8);
}

TEST(SimOptionsTest, ReadsTheKeysOfGeneration) {
  const auto options = ParseSimOptions(ConfigWith({{"vocab", "300"},
                                                   {"context", "64"},
                                                   {"pool_blocks", "9"},
                                                   {"max_sequences", "8"},
                                                   {"ttl_ms", "7"},
                                                   {"ttl_ticks", "6"},
                                                   {"op_us", "5"},
                                                   {"op_chunk_bytes", "4"},
                                                   {"tick_us", "3"},
                                                   {"token_us", "2"},
                                                   {"call_passes", "21"},
                                                   {"call_pass_us", "22"},
                                                   {"stuck_at_call", "23"},
                                                   {"slow_at_tick", "11"},
                                                   {"stuck_at_tick", "12"},
                                                   {"fail_at_tick", "13"},
                                                   {"throw_at_tick", "14"},
                                                   {"out_of_memory_at_tick", "15"},
                                                   {"slow_at_op", "16"},
                                                   {"stuck_at_op", "17"},
                                                   {"fail_at_op", "18"},
                                                   {"throw_at_op", "19"},
                                                   {"out_of_memory_at_op", "20"},
                                                   {"wrong_at_tick", "21"},
                                                   {"wrong_result", "bad_token"}}));
  ASSERT_TRUE(options.ok()) << options.status();
  const SimGenerationOptions& generation = options->generation;
  EXPECT_EQ(generation.vocab, 300U);
  EXPECT_EQ(generation.context, 64U);
  EXPECT_EQ(generation.pool_blocks, 9U);
  EXPECT_EQ(generation.max_sequences, 8);
  EXPECT_EQ(generation.ttl_ms, 7U);
  EXPECT_EQ(generation.ttl_ticks, 6U);
  EXPECT_EQ(generation.op, absl::Microseconds(5));
  EXPECT_EQ(generation.op_chunk_bytes, 4);
  EXPECT_EQ(generation.tick, absl::Microseconds(3));
  EXPECT_EQ(generation.token, absl::Microseconds(2));
  EXPECT_EQ(generation.call_passes, 21);
  EXPECT_EQ(generation.call_pass, absl::Microseconds(22));
  EXPECT_EQ(generation.faults.stuck_at_call, 23);
  const SimGenerationFaults& faults = generation.faults;
  EXPECT_EQ(faults.slow_at_tick, 11);
  EXPECT_EQ(faults.stuck_at_tick, 12);
  EXPECT_EQ(faults.fail_at_tick, 13);
  EXPECT_EQ(faults.throw_at_tick, 14);
  EXPECT_EQ(faults.out_of_memory_at_tick, 15);
  EXPECT_EQ(faults.slow_at_op, 16);
  EXPECT_EQ(faults.stuck_at_op, 17);
  EXPECT_EQ(faults.fail_at_op, 18);
  EXPECT_EQ(faults.throw_at_op, 19);
  EXPECT_EQ(faults.out_of_memory_at_op, 20);
  EXPECT_EQ(faults.wrong_at_tick, 21);
  EXPECT_EQ(faults.wrong_result, "bad_token");
}

TEST(SimOptionsTest, RefusesAnUnknownKeyAndNamesTheKnown) {
  const absl::Status status = ErrorOf("stepus", "1");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no option \"stepus\" (is \"step_us\" meant?)"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(" step_us"));
}

TEST(SimOptionsTest, RefusesWhatIsNoNumberOrOutOfRange) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"segments", "-1"},
      {"segments", "1000001"},
      {"segments", ""},
      {"segments", "1x"},
      {"segment_ms", "9"},
      {"step_us", "60000001"},
      {"words", "1001"},
      {"partials", "2"},
      {"stuck_ms", "-1"},
      {"fail_start", "perhaps"},
      {"work", "hard"},
      {"max_transcriptions", "0"},
      {"vocab", "255"},
      {"context", "0"},
      {"ttl_ms", "0"},
      {"wrong_result", "nonsense"},
      {"segments", "99999999999999999999"}};
  for (const auto& [key, value] : bad) {
    const absl::Status status = ErrorOf(key, value);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << key << "=" << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(key + "=" + value));
  }
}

TEST(SimOptionsTest, RefusesMoreStepsThanMilliseconds) {
  const auto options =
      ParseSimOptions(ConfigWith({{"segment_ms", "10"}, {"steps_per_segment", "11"}}));
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SimOptionsTest, PromptChangesOneJob) {
  SimOptions base;
  base.segments = 5;
  const auto options = WithSimPrompt(base, "please sim:fail_at_step=3 and  sim:words=1");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->faults.fail_at_step, 3);
  EXPECT_EQ(options->words, 1);
  EXPECT_EQ(options->segments, 5);
}

TEST(SimOptionsTest, PromptWithoutOptionsChangesNothing) {
  const auto options = WithSimPrompt({}, "words=9 simwords=9 fail_at_step=1");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->words, 3);
  EXPECT_EQ(options->faults.fail_at_step, 0);
}

TEST(SimOptionsTest, PromptCannotChangeTheEngine) {
  for (const char* prompt :
       {"sim:max_transcriptions=1", "sim:work=busy", "sim:bogus=1", "sim:", "sim:vocab=300"}) {
    EXPECT_EQ(WithSimPrompt({}, prompt).status().code(), absl::StatusCode::kInvalidArgument)
        << prompt;
  }
}

}  // namespace
}  // namespace superfluid
