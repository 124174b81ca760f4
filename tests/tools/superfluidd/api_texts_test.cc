// The small pure functions of the API: languages, texts of errors, trace contexts.

#include <string>

#include "gtest/gtest.h"
#include "tools/superfluidd/api/api_error.h"
#include "tools/superfluidd/api/language_name.h"
#include "tools/superfluidd/api/public_text.h"
#include "tools/superfluidd/api/speech_answer.h"
#include "tools/superfluidd/api/trace_context.h"
#include "tools/superfluidd/fleet/refused_param.h"

namespace superfluid::daemon {
namespace {

TEST(LanguageNameTest, IsThatOfOpenAi) {
  EXPECT_EQ(LanguageName("en"), "english");
  EXPECT_EQ(LanguageName("en-US"), "english");
  EXPECT_EQ(LanguageName("DE_at"), "german");
  EXPECT_EQ(LanguageName("haw"), "hawaiian");
  EXPECT_EQ(LanguageName("zh"), "chinese");
  EXPECT_EQ(LanguageName("af"), "afrikaans");
}

TEST(LanguageNameTest, LeavesWhatItDoesNotKnow) {
  EXPECT_EQ(LanguageName(""), "");
  EXPECT_EQ(LanguageName("tlh-x"), "tlh-x");
}

TEST(PublicTextTest, SpeaksOfTheFileAndNotOfABuffer) {
  const PublicText text = InWordsOfTheApi("\"the buffer\": it is not audio in a known format");
  EXPECT_EQ(text.message,
            "the file cannot be read as a recording: it is not audio in a known format");
  EXPECT_EQ(text.param, "file");
}

TEST(PublicTextTest, LeavesTheCallsOfEnginesOut) {
  const PublicText text = InWordsOfTheApi("transcription_start: the language xx is not supported");
  EXPECT_EQ(text.message, "the language xx is not supported");
  EXPECT_EQ(text.param, "language");
  EXPECT_EQ(InWordsOfTheApi("transcription_start: this engine takes no prompt").param, "prompt");
}

TEST(PublicTextTest, LeavesOtherTextsAlone) {
  EXPECT_EQ(InWordsOfTheApi("transcription_ of something: else").message,
            "transcription_ of something: else");
  EXPECT_EQ(InWordsOfTheApi("this engine cannot translate").param, "");
  EXPECT_EQ(InWordsOfTheApi("").message, "");
}

TEST(RefusedParamTest, IsWhatTheEngineDoesNotList) {
  const std::string capabilities = R"({"transcribe":{"languages":["en","de-AT"],"prompt":false}})";
  SpeechRequest request;
  EXPECT_EQ(RefusedParam(request, capabilities), "");
  for (const char* listed : {"en", "EN-us", "de", "de_CH"}) {
    request.language = listed;
    EXPECT_EQ(RefusedParam(request, capabilities), "") << listed;
  }
  request.language = "fr";
  EXPECT_EQ(RefusedParam(request, capabilities), "language");
  request.prompt = "names";
  EXPECT_EQ(RefusedParam(request, capabilities), "prompt");
}

TEST(RefusedParamTest, IsNoneWhereTheCapabilitiesDoNotTell) {
  SpeechRequest request;
  request.language = "fr";
  request.prompt = "names";
  for (const char* capabilities :
       {"", "[]", "{}", R"({"transcribe":7})", R"({"transcribe":{"languages":"any"}})",
        R"({"transcribe":{"languages":{},"prompt":"any text"}})"}) {
    EXPECT_EQ(RefusedParam(request, capabilities), "") << capabilities;
  }
}

TEST(ErrorOfTest, NamesTheFieldOfWrongRequestsOnly) {
  RequestOutcome outcome = {.status = linkw::Status::kInvalidArgument,
                            .message = "transcription_start: the language is no language"};
  EXPECT_EQ(ErrorOf(outcome).param, "language");
  outcome.status = linkw::Status::kInternal;
  EXPECT_EQ(ErrorOf(outcome).param, "");
  outcome = {.status = linkw::Status::kTooLarge, .message = "too long", .param = "file"};
  EXPECT_EQ(ErrorOf(outcome).status, 413);
  EXPECT_EQ(ErrorOf(outcome).param, "file");
}

TEST(ErrorOfTest, AModelThatIsServedNoMoreIsNotFound) {
  const ApiError error = ErrorOf(
      {.status = linkw::Status::kNotFound, .message = "it is served no more", .param = "model"});
  EXPECT_EQ(error.status, 404);
  EXPECT_EQ(error.code, "model_not_found");
}

Json FirstSegment(const linkw::TranscriptSegment& segment) {
  SpeechForm form;
  form.format = AnswerFormat::kVerboseJson;
  const linkw::TranscribeResult result = {.language = "en", .segments = {segment}};
  const Json json = Json::parse(SpeechAnswer(form, result).body);
  EXPECT_EQ(json["language"], "english");
  return json["segments"][0];
}

TEST(SpeechAnswerTest, FiguresThatNoEngineMadeAreNull) {
  const Json segment = FirstSegment({.text = "word", .avg_logprob = -0.5F});
  EXPECT_EQ(segment["avg_logprob"], -0.5);
  EXPECT_TRUE(segment["no_speech_prob"].is_null());
  EXPECT_TRUE(segment["compression_ratio"].is_null());
  EXPECT_EQ(segment["temperature"], 0);
}

TEST(SpeechAnswerTest, AFigureOfZeroStaysWhereThereAreFigures) {
  const Json segment = FirstSegment({.text = "word", .compression_ratio = 1.5F});
  EXPECT_EQ(segment["no_speech_prob"], 0);
  EXPECT_EQ(segment["avg_logprob"], 0);
}

constexpr char kTraceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, IsASpanInTheTraceOfTheClient) {
  const TraceContext context = TraceContextOf(kTraceparent);
  EXPECT_EQ(context.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(context.parent_id, "00f067aa0ba902b7");
  EXPECT_EQ(context.span_id.size(), 16u);
  EXPECT_NE(context.span_id, context.parent_id);
}

TEST(TraceContextTest, TakesALaterVersion) {
  const std::string later = "cc" + std::string(kTraceparent).substr(2) + "-more";
  EXPECT_EQ(TraceContextOf(later).parent_id, "00f067aa0ba902b7");
}

TEST(TraceContextTest, BeginsATraceWhereNoneIsNamed) {
  const std::string good = kTraceparent;
  for (const std::string& wrong :
       {std::string(), std::string("00-"), good + "-more", "ff" + good.substr(2),
        good.substr(0, good.size() - 1), "00-" + std::string(32, '0') + good.substr(35),
        good.substr(0, 36) + std::string(16, '0') + "-01",
        good.substr(0, 10) + "X" + good.substr(11), good.substr(0, 35) + "_" + good.substr(36)}) {
    const TraceContext context = TraceContextOf(wrong);
    EXPECT_EQ(context.trace_id.size(), 32u) << wrong;
    EXPECT_NE(context.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736") << wrong;
    EXPECT_EQ(context.parent_id, "") << wrong;
    EXPECT_EQ(context.span_id.size(), 16u) << wrong;
  }
  EXPECT_NE(TraceContextOf("").trace_id, TraceContextOf("").trace_id);
}

}  // namespace
}  // namespace superfluid::daemon
