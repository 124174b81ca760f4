#include "tools/ctl/formats/json_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/tools/ctl/sample_transcript.h"
#include "tools/ctl/formats/json_text.h"
#include "tools/ctl/formats/transcript_json.h"

namespace superfluid::ctl {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr absl::Duration kNow = absl::Microseconds(1234567);

TEST(JsonFormatTest, WritesOneObjectWithEverything) {
  JsonFormat format;
  EXPECT_EQ(format.Begin(), "");
  EXPECT_EQ(format.Segment(MakeSegment(0, 0, 1, "x"), kNow), "");
  const std::string document = format.End(MakeOutcome());
  EXPECT_THAT(document, EndsWith("}\n"));
  const Json json = Json::parse(document);
  EXPECT_EQ(json["file"], "talk.flac");
  EXPECT_EQ(json["status"], "OK");
  EXPECT_EQ(json["text"], "one two three");
  EXPECT_EQ(json["language"], "en");
  EXPECT_EQ(json["duration_ms"], 10000);
  ASSERT_EQ(json["segments"].size(), 2u);
  EXPECT_EQ(json["segments"][0]["start_ms"], 1230);
  EXPECT_EQ(json["segments"][0]["words"][1]["text"], "two");
  EXPECT_EQ(json["segments"][1]["words"].size(), 0u);
  EXPECT_EQ(json["stats"]["engine_steps"], 1001);
  EXPECT_EQ(json["client"]["elapsed_ms"], 2000);
  EXPECT_EQ(json["client"]["first_segment_ms"], 300);
  EXPECT_EQ(json["client"]["cancel_ms"], nullptr);
  EXPECT_EQ(json["client"]["real_time_factor"], 0.2);
}

TEST(JsonFormatTest, WritesASegmentWithItsFieldsInOrder) {
  EXPECT_EQ(SegmentJson(MakeOutcome().result.segments[0]).dump(),
            R"({"start_ms":1230,"end_ms":3450,"text":"one two","avg_logprob":-0.25,)"
            R"("no_speech_prob":0.1,"compression_ratio":0.0,"temperature":0.0,"words":[)"
            R"({"start_ms":1230,"end_ms":2000,"text":"one","probability":0.9},)"
            R"({"start_ms":2000,"end_ms":3450,"text":"two","probability":0.5}]})");
}

TEST(JsonFormatTest, GivesNoFactorOfACancelledRequest) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.status = linkw::Status::kCancelled;
  EXPECT_EQ(OutcomeJson(outcome)["client"]["real_time_factor"], nullptr);
}

TEST(JsonFormatTest, SaysWhatFailed) {
  TranscriptionOutcome outcome;
  outcome.status = linkw::Status::kNotFound;
  outcome.message = "no such file";
  const Json json = OutcomeJson(outcome);
  EXPECT_EQ(json["status"], "NOT_FOUND");
  EXPECT_EQ(json["message"], "no such file");
  EXPECT_EQ(json["client"]["real_time_factor"], nullptr);
}

TEST(JsonFormatTest, WritesNumbersThatJsonLacksAsNull) {
  linkw::TranscriptSegment segment;
  segment.avg_logprob = std::numeric_limits<float>::quiet_NaN();
  segment.temperature = std::numeric_limits<float>::infinity();
  const std::string text = SegmentJson(segment).dump();
  EXPECT_THAT(text, HasSubstr(R"("avg_logprob":null)"));
  EXPECT_THAT(text, HasSubstr(R"("temperature":null)"));
}

TEST(JsonFormatTest, ReplacesBytesThatAreNotUtf8) {
  TranscriptionOutcome outcome = MakeOutcome();
  outcome.file = "caf\xE9.wav";
  EXPECT_EQ(Json::parse(JsonFormat().End(outcome))["file"], "caf\xEF\xBF\xBD.wav");
}

TEST(JsonLinesFormatTest, WritesALineASegment) {
  JsonLinesFormat format;
  EXPECT_EQ(format.Segment(MakePartial(3, 0, 500, "a\nb"), kNow),
            R"({"event":"segment","index":3,"partial":true,"at_ms":1234.567,"audio_ms":500,)"
            R"("audio_total_ms":10000,"start_ms":0,"end_ms":500,"text":"a\nb","avg_logprob":0.0,)"
            R"("no_speech_prob":0.0,"compression_ratio":0.0,"temperature":0.0,"words":[]})"
            "\n");
}

TEST(JsonLinesFormatTest, EndsWithTheResultOnOneLine) {
  const std::string line = JsonLinesFormat().End(MakeOutcome());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["event"], "result");
  EXPECT_EQ(json["text"], "one two three");
}

TEST(JsonOrTextTest, ParsesJson) {
  EXPECT_EQ(JsonOrText(R"({"a":[1,{"b":null}]})").dump(), R"({"a":[1,{"b":null}]})");
}

TEST(JsonOrTextTest, KeepsWhatIsNoJsonAsText) {
  EXPECT_EQ(JsonOrText("{oops"), Json("{oops"));
  EXPECT_EQ(JsonOrText(""), Json(""));
}

TEST(JsonOrTextTest, DoesNotFollowEndlessNesting) {
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_TRUE(JsonOrText(nested).is_string());
}

}  // namespace
}  // namespace superfluid::ctl
