#include "tools/ctl/speech/transcribe_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace superfluid::ctl {
namespace {

using testing::HasSubstr;

class TranscribeOptionsTest : public testing::Test {
 protected:
  // What the parser says: empty if it takes the arguments.
  std::string Parse(std::vector<std::string> arguments) {
    options_ = TranscribeOptions();
    CLI::App app;
    AddTranscribeOptions(app, options_);
    std::reverse(arguments.begin(), arguments.end());
    try {
      app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return std::string(CheckTranscribeOptions(options_).message());
  }

  TranscriptKind KindFor(const std::vector<std::string>& arguments) {
    EXPECT_EQ(Parse(arguments), "");
    return KindOf(options_);
  }

  AudioRoute RouteFor(const std::vector<std::string>& arguments) {
    EXPECT_EQ(Parse(arguments), "");
    return RouteOf(options_);
  }

  linkw::Transcribe RequestFor(const std::vector<std::string>& arguments) {
    EXPECT_EQ(Parse(arguments), "");
    return MakeRequest(options_, linkw::AudioPath{"/x"});
  }

  TranscribeOptions options_;
};

TEST_F(TranscribeOptionsTest, NeedsAFile) {
  EXPECT_THAT(Parse({}), HasSubstr("FILE"));
  EXPECT_EQ(Parse({""}), "FILE is empty");
}

TEST_F(TranscribeOptionsTest, FillsTheRequest) {
  const linkw::Transcribe request =
      RequestFor({"a.wav", "--language", "de", "--translate", "--prompt", "Hello", "--partials",
                  "--no-timestamps", "--deadline", "1500"});
  EXPECT_EQ(request.language, "de");
  EXPECT_TRUE(request.translate);
  EXPECT_EQ(request.prompt, "Hello");
  EXPECT_TRUE(request.partial_results);
  EXPECT_FALSE(request.timestamps);
  EXPECT_EQ(request.deadline_ms, 1500u);
  EXPECT_EQ(std::get<linkw::AudioPath>(request.audio).path, "/x");
}

TEST_F(TranscribeOptionsTest, LeavesALanguageCalledAutoToTheEngine) {
  EXPECT_EQ(RequestFor({"a.wav", "--language", "auto"}).language, "");
  EXPECT_EQ(RequestFor({"a.wav", "--language", "Auto"}).language, "");
}

TEST_F(TranscribeOptionsTest, StreamsUnlessEverythingComesAtTheEnd) {
  EXPECT_TRUE(RequestFor({"a"}).stream);
  EXPECT_TRUE(RequestFor({"a", "--srt"}).stream);
  EXPECT_FALSE(RequestFor({"a", "--no-stream"}).stream);
  EXPECT_FALSE(RequestFor({"a", "--json"}).stream);
  EXPECT_TRUE(RequestFor({"a", "--json", "--stream"}).stream);
}

TEST_F(TranscribeOptionsTest, ChoosesTheFormat) {
  EXPECT_EQ(KindFor({"a"}), TranscriptKind::kHuman);
  EXPECT_EQ(KindFor({"a", "--stream"}), TranscriptKind::kHuman);
  EXPECT_EQ(KindFor({"a", "--json"}), TranscriptKind::kJson);
  EXPECT_EQ(KindFor({"a", "--json", "--stream"}), TranscriptKind::kJsonLines);
  EXPECT_EQ(KindFor({"a", "--srt"}), TranscriptKind::kSrt);
  EXPECT_EQ(KindFor({"a", "--vtt", "--words"}), TranscriptKind::kVtt);
}

TEST_F(TranscribeOptionsTest, ChoosesTheRoute) {
  EXPECT_EQ(RouteFor({"a"}), AudioRoute::kPath);
  EXPECT_EQ(RouteFor({"a", "--inline"}), AudioRoute::kInline);
  EXPECT_EQ(RouteFor({"a", "--raw"}), AudioRoute::kInline);
  EXPECT_EQ(RouteFor({"a", "--live"}), AudioRoute::kLive);
  EXPECT_EQ(RouteFor({"a", "--live", "--raw"}), AudioRoute::kLive);
  EXPECT_EQ(RouteFor({"-"}), AudioRoute::kLive);
  EXPECT_EQ(RouteFor({"-", "--inline"}), AudioRoute::kInline);
}

TEST_F(TranscribeOptionsTest, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> bad = {{"a", "--json", "--srt"},
                                                     {"a", "--srt", "--vtt"},
                                                     {"a", "--stream", "--no-stream"},
                                                     {"a", "--partials", "--no-stream"},
                                                     {"a", "--words", "--no-timestamps"},
                                                     {"a", "--srt", "--no-timestamps"},
                                                     {"a", "--srt", "--words"},
                                                     {"a", "--json", "--partials"},
                                                     {"a", "--vtt", "--partials"},
                                                     {"a", "--live", "--inline"},
                                                     {"a", "--speed", "2"},
                                                     {"a", "--live", "--speed", "-1"},
                                                     {"a", "--rate", "0"},
                                                     {"a", "--channels", "0"},
                                                     {"a", "--deadline", "0"},
                                                     {"a", "--deadline", "soon"},
                                                     {"a", "--cancel-after", "-1"},
                                                     {"a", "--rate", "8000"},
                                                     {"a", "--channels", "2"},
                                                     {"a", "--live", "--rate", "8000"},
                                                     {"-", "--inline", "--rate", "8000"},
                                                     {"a", "--output", ""},
                                                     {"a", "--language", ""},
                                                     {"a", "b"},
                                                     {"a", "--nonsense"}};
  for (const std::vector<std::string>& arguments : bad) {
    EXPECT_NE(Parse(arguments), "") << testing::PrintToString(arguments);
  }
}

TEST_F(TranscribeOptionsTest, TakesACancelAtOnce) {
  EXPECT_EQ(Parse({"a", "--cancel-after", "0"}), "");
  EXPECT_EQ(options_.cancel_after_ms, 0u);
  EXPECT_EQ(Parse({"a"}), "");
  EXPECT_EQ(options_.cancel_after_ms, std::nullopt);
}

TEST_F(TranscribeOptionsTest, TakesTimesWithUnits) {
  EXPECT_EQ(Parse({"a", "--cancel-after", "2s", "--deadline", "1m"}), "");
  EXPECT_EQ(options_.cancel_after_ms, 2000u);
  EXPECT_EQ(options_.deadline_ms, 60'000u);
}

TEST_F(TranscribeOptionsTest, LetsADecoderSetThePace) {
  EXPECT_EQ(Parse({"a", "--decode"}), "");
  EXPECT_EQ(SpeedOf(options_), 0);
  EXPECT_NE(Parse({"a", "--decode", "--raw"}), "");
}

TEST_F(TranscribeOptionsTest, LetsStandardInputSetThePace) {
  EXPECT_EQ(Parse({"a", "--live"}), "");
  EXPECT_EQ(SpeedOf(options_), 1);
  EXPECT_EQ(Parse({"-", "--live"}), "");
  EXPECT_EQ(SpeedOf(options_), 0);
  EXPECT_EQ(Parse({"-", "--live", "--speed", "20"}), "");
  EXPECT_EQ(SpeedOf(options_), 20);
}

TEST_F(TranscribeOptionsTest, AsksForProgressOfLiveAudio) {
  EXPECT_EQ(RequestFor({"a"}).progress_ms, 0u);
  EXPECT_EQ(MakeRequest(options_, linkw::AudioLive{}).progress_ms, 1000u);
}

TEST_F(TranscribeOptionsTest, DescribesRawAudio) {
  EXPECT_EQ(Parse({"-", "--rate", "8000"}), "");
  EXPECT_EQ(RawFormat(options_), (linkw::PcmFormat{8000, 1, linkw::SampleFormat::kS16}));
  EXPECT_EQ(Parse({"a", "--raw", "--rate", "8000", "--channels", "2"}), "");
  EXPECT_EQ(RawFormat(options_), (linkw::PcmFormat{8000, 2, linkw::SampleFormat::kS16}));
}

TEST(PathForWorkerTest, MakesPathsAbsolute) {
  EXPECT_EQ(PathForWorker("/a/b.wav"), "/a/b.wav");
  EXPECT_EQ(PathForWorker("b.wav"), (std::filesystem::current_path() / "b.wav").string());
}

}  // namespace
}  // namespace superfluid::ctl
