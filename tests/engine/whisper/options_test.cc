#include "engine/whisper/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;
using Given = std::vector<std::pair<std::string, std::string>>;

absl::Status Refusal(const Given& given) { return ParseWhisperOptions(given).status(); }

TEST(WhisperOptionsTest, NothingGivenIsTheDefault) {
  EXPECT_EQ(*ParseWhisperOptions({}), WhisperOptions());
}

TEST(WhisperOptionsTest, EachCanBeSet) {
  const absl::StatusOr<WhisperOptions> parsed = ParseWhisperOptions({{"states", "2"},
                                                                     {"beam_size", "5"},
                                                                     {"best_of", "3"},
                                                                     {"temperature", "0.4"},
                                                                     {"temperature_inc", "0"},
                                                                     {"entropy_thold", "2"},
                                                                     {"logprob_thold", "-2.5"},
                                                                     {"no_speech_thold", "0.9"},
                                                                     {"vad_model", "vad.bin"},
                                                                     {"vad_threshold", "0.3"},
                                                                     {"pause_ms", "500"},
                                                                     {"partial_ms", "2000"},
                                                                     {"audio_ctx", "512"},
                                                                     {"gpu", "false"},
                                                                     {"flash_attn", "true"}});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const WhisperOptions expected = {.states = 2,
                                   .beam_size = 5,
                                   .best_of = 3,
                                   .temperature = 0.4,
                                   .temperature_inc = 0,
                                   .entropy_thold = 2,
                                   .logprob_thold = -2.5,
                                   .no_speech_thold = 0.9,
                                   .vad_model = "vad.bin",
                                   .vad_threshold = 0.3,
                                   .pause_ms = 500,
                                   .partial_ms = 2000,
                                   .audio_ctx = 512,
                                   .gpu = false,
                                   .flash_attn = true};
  EXPECT_EQ(*parsed, expected);
}

TEST(WhisperOptionsTest, AnUnknownNameListsTheKnownOnes) {
  const absl::Status status = Refusal({{"beams", "5"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* name : {"\"beams\" (is \"beam_size\" meant?)", "states", "beam_size",
                           "vad_model", "temperature_inc", "flash_attn", "audio_ctx"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
}

TEST(WhisperOptionsTest, WhatIsOutOfRangeIsRefusedWithTheRange) {
  const Given wrong = {{"states", "0"},          {"states", "65"},
                       {"states", "two"},        {"states", ""},
                       {"states", "1.5"},        {"beam_size", "9"},
                       {"best_of", "-1"},        {"temperature", "1.1"},
                       {"temperature", "nan"},   {"temperature_inc", "-1"},
                       {"entropy_thold", "inf"}, {"logprob_thold", "0.1"},
                       {"no_speech_thold", "2"}, {"vad_threshold", "0"},
                       {"pause_ms", "100"},      {"partial_ms", "20"},
                       {"audio_ctx", "1501"},    {"gpu", "maybe"},
                       {"flash_attn", "2"}};
  for (const auto& [name, value] : wrong) {
    const absl::Status status = Refusal({{name, value}});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name << "=" << value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(name, "=", value)));
  }
}

TEST(WhisperOptionsTest, TinyIncrementsAreRefused) {
  EXPECT_EQ(Refusal({{"temperature_inc", "0.001"}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Refusal({{"temperature_inc", "0.05"}}).ok());
}

TEST(WhisperOptionsTest, TwiceIsRefused) {
  const absl::Status status = Refusal({{"states", "2"}, {"states", "3"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("twice"));
}

}  // namespace
}  // namespace superfluid
