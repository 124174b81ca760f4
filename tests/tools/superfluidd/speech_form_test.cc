#include "tools/superfluidd/api/speech_form.h"

#include <memory>
#include <string>
#include <variant>

#include "gtest/gtest.h"
#include "tools/superfluidd/api/api_keys.h"
#include "tools/superfluidd/api/daemon_metrics.h"
#include "tools/superfluidd/api/model_catalog.h"
#include "tools/superfluidd/api/speech_answer.h"

namespace superfluid::daemon {
namespace {

UploadForm FormWith(std::map<std::string, std::vector<std::string>> fields) {
  UploadForm form;
  form.fields = std::move(fields);
  auto file = std::make_shared<AudioBody>();
  EXPECT_TRUE(file->Append("x").ok());
  form.file = std::move(file);
  return form;
}

std::string ParamOf(std::map<std::string, std::vector<std::string>> fields) {
  const auto parsed = ParseSpeechForm(SpeechTask::kTranscribe, FormWith(std::move(fields)));
  const auto* error = std::get_if<ApiError>(&parsed);
  return error == nullptr ? "" : error->param;
}

TEST(SpeechFormTest, ReadsEveryField) {
  const auto parsed =
      ParseSpeechForm(SpeechTask::kTranscribe, FormWith({{"model", {"m"}},
                                                         {"language", {"DE"}},
                                                         {"prompt", {"p"}},
                                                         {"response_format", {"verbose_json"}},
                                                         {"stream", {"True"}},
                                                         {"temperature", {"0.2"}},
                                                         {"include[]", {"logprobs"}},
                                                         {"timestamp_granularities[]", {"word"}},
                                                         {"unknown", {"ignored"}}}));
  ASSERT_TRUE(std::holds_alternative<SpeechForm>(parsed));
  const auto& form = std::get<SpeechForm>(parsed);
  EXPECT_EQ(form.model, "m");
  EXPECT_EQ(form.language, "de");
  EXPECT_EQ(form.prompt, "p");
  EXPECT_EQ(form.format, AnswerFormat::kVerboseJson);
  EXPECT_TRUE(form.stream && form.logprobs && form.words);
  EXPECT_FALSE(form.segments);
}

TEST(SpeechFormTest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(ParamOf({}), "");
  EXPECT_EQ(ParamOf({{"response_format", {"xml"}}}), "response_format");
  EXPECT_EQ(ParamOf({{"stream", {"maybe"}}}), "stream");
  EXPECT_EQ(ParamOf({{"stream", {"true"}}, {"response_format", {"srt"}}}), "response_format");
  EXPECT_EQ(ParamOf({{"timestamp_granularities[]", {"phone"}}}), "timestamp_granularities");
  EXPECT_EQ(ParamOf({{"include[]", {"secrets"}}}), "include");
  EXPECT_EQ(ParamOf({{"temperature", {"2"}}}), "temperature");
  EXPECT_EQ(ParamOf({{"language", {std::string(40, 'x')}}}), "language");
}

TEST(SpeechAnswerTest, DeltasJoinToTheText) {
  DeltaText text;
  EXPECT_EQ(text.Add("one"), "one");
  EXPECT_EQ(text.Add(""), "");
  EXPECT_EQ(text.Add("two"), " two");
  EXPECT_EQ(text.Rest("one two three"), " three");
  EXPECT_EQ(text.Rest("something else"), "");
  EXPECT_EQ(text.text(), "one two three");
}

TEST(SpeechAnswerTest, EventsAreOneLineOfData) {
  EXPECT_EQ(ServerSentEvent({{"a", "b\nc"}}), "data: {\"a\":\"b\\nc\"}\n\n");
}

TEST(ApiErrorTest, EveryEndHasAStatus) {
  RequestOutcome outcome;
  outcome.status = linkw::Status::kCancelled;
  outcome.figures.cause = CancelCause::kDeleted;
  EXPECT_EQ(ErrorOf(outcome).status, 499);
  EXPECT_EQ(ErrorOf(outcome).message, "the request was cancelled: deleted");
  outcome.status = linkw::Status::kLinkClosed;
  EXPECT_EQ(ErrorOf(outcome).status, 503);
  outcome.status = linkw::Status::kProtocolError;
  EXPECT_EQ(ErrorOf(outcome).status, 500);
  EXPECT_EQ(ErrorJson({.message = "m"}).dump(),
            "{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\",\"param\":null,"
            "\"code\":null}}");
}

RequestHead HeadWith(const std::string& name, const std::string& value) {
  RequestHead head;
  head.headers = {{name, value}};
  return head;
}

TEST(ApiKeysTest, KnowsKeysByTheirHash) {
  EXPECT_EQ(HashKey("secret"), "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b");
  const ApiKeys keys({{.name = "team", .sha256 = HashKey("secret"), .priority = 3}});
  const auto caller = keys.Identify(HeadWith("Authorization", "Bearer secret"));
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->tenant, "team");
  EXPECT_EQ(caller->priority, 3);
  EXPECT_FALSE(keys.Identify(HeadWith("Authorization", "Bearer other")).has_value());
  EXPECT_FALSE(keys.Identify(RequestHead{}).has_value());
  EXPECT_TRUE(
      keys.Identify(HeadWith("Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.secret"))
          .has_value());
}

TEST(ApiKeysTest, WithoutKeysEverybodyMayComeAndKeysTellThemApart) {
  const ApiKeys keys;
  EXPECT_EQ(keys.Identify(RequestHead{})->tenant, "anonymous");
  EXPECT_NE(keys.Identify(HeadWith("Authorization", "Bearer a"))->tenant,
            keys.Identify(HeadWith("Authorization", "Bearer b"))->tenant);
}

TEST(ModelCatalogTest, ResolvesNamesAliasesAndAnything) {
  const ModelCatalog catalog({{"small", {"whisper-1"}}, {"large", {"*"}}});
  EXPECT_EQ(catalog.Resolve(""), "small");
  EXPECT_EQ(catalog.Resolve("whisper-1"), "small");
  EXPECT_EQ(catalog.Resolve("large"), "large");
  EXPECT_EQ(catalog.Resolve("any"), "large");
  const ModelCatalog strict(std::vector<ModelCatalog::Model>{{"one", {}}});
  EXPECT_EQ(strict.Resolve("two"), std::nullopt);
}

TEST(DaemonMetricsTest, WritesHistogramsThatAddUp) {
  Histogram histogram({1, 2});
  histogram.Observe(0.5);
  histogram.Observe(1.5);
  histogram.Observe(9);
  std::string text;
  histogram.Write("x", text);
  EXPECT_EQ(text,
            "x_bucket{le=\"1\"} 1\nx_bucket{le=\"2\"} 2\nx_bucket{le=\"+Inf\"} 3\nx_sum 11\n"
            "x_count 3\n");
}

TEST(DaemonMetricsTest, CountsRequestsAndEscapesLabels) {
  DaemonMetrics metrics;
  SpeechRequest request;
  request.model = "a\"b";
  RequestOutcome outcome;
  outcome.figures.attempts = 2;
  metrics.OnRequestEnded(request, outcome);
  const std::string text = metrics.Text({}, 7);
  EXPECT_NE(text.find("superfluidd_requests_total{model=\"a\\\"b\",status=\"OK\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("superfluidd_retries_total 1\n"), std::string::npos);
  EXPECT_NE(text.find("superfluidd_upload_memory_bytes 7\n"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 6), "# EOF\n");
}

}  // namespace
}  // namespace superfluid::daemon
