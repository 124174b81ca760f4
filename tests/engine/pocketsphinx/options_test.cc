#include "engine/pocketsphinx/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace superfluid {
namespace {

using ::testing::HasSubstr;

TEST(PocketsphinxOptionsTest, HasDefaults) {
  absl::StatusOr<PocketsphinxOptions> options = ParsePocketsphinxOptions({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(*options, PocketsphinxOptions());
}

TEST(PocketsphinxOptionsTest, ReadsEveryOption) {
  absl::StatusOr<PocketsphinxOptions> options =
      ParsePocketsphinxOptions({{"pool", "3"},
                                {"warm", "2"},
                                {"pause_ms", "300"},
                                {"max_segment_ms", "5000"},
                                {"max_hmms", "1000"},
                                {"language", "de-AT"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(*options, (PocketsphinxOptions{3, 2, 300, 5000, 1000, "de-AT"}));
}

TEST(PocketsphinxOptionsTest, RefusesWhatIsWrong) {
  const auto message = [](const std::string& name, const std::string& value) {
    const absl::Status status = ParsePocketsphinxOptions({{name, value}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name << "=" << value;
    return std::string(status.message());
  };
  EXPECT_THAT(message("size", "3"), HasSubstr("has no option \"size\"; it has pool, warm"));
  EXPECT_THAT(message("pool", "many"), HasSubstr("must be a whole number from 1 to 64"));
  message("pool", "0");
  message("pool", "65");
  message("pool", "");
  message("pool", "1x");
  message("pause_ms", "99");
  message("max_segment_ms", "30001");
  message("max_hmms", "499");
  message("language", "");
  message("language", "\xff");
  EXPECT_THAT(message("warm", "5"), HasSubstr("must not exceed pool, which is 4"));
}

TEST(PocketsphinxOptionsTest, RefusesAnOptionGivenTwice) {
  EXPECT_FALSE(ParsePocketsphinxOptions({{"pool", "2"}, {"pool", "3"}}).ok());
}

TEST(PocketsphinxOptionsTest, NamesOfLanguagesAreUnderstood) {
  for (const char* wanted : {"", "auto", "en", "EN_gb", "English", "english", "eng"}) {
    EXPECT_TRUE(CheckLanguage(wanted, "en-US").ok()) << wanted;
  }
  EXPECT_TRUE(CheckLanguage("German", "de-DE").ok());
  EXPECT_TRUE(absl::IsUnimplemented(CheckLanguage("german", "en-US")));
}

TEST(PocketsphinxOptionsTest, PrimaryLanguageIsLowerCase) {
  EXPECT_EQ(PrimaryLanguage("en-US"), "en");
  EXPECT_EQ(PrimaryLanguage("DE"), "de");
  EXPECT_EQ(PrimaryLanguage("pt_BR"), "pt");
  EXPECT_EQ(PrimaryLanguage(""), "");
}

}  // namespace
}  // namespace superfluid
