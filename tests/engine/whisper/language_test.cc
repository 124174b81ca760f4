#include "engine/whisper/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace superfluid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

WhisperModelFile ModelOf(int vocabulary) {
  WhisperModelFile model;
  model.name = "model.bin";
  model.vocabulary = vocabulary;
  return model;
}

TEST(LanguageTest, OfEachKindOfModel) {
  EXPECT_THAT(LanguagesOf(ModelOf(51864)), ElementsAre("en"));
  EXPECT_THAT(LanguagesOf(ModelOf(51865)), SizeIs(99));
  EXPECT_THAT(LanguagesOf(ModelOf(51865)), Not(Contains("yue")));
  EXPECT_THAT(LanguagesOf(ModelOf(51866)), SizeIs(100));
  EXPECT_THAT(LanguagesOf(ModelOf(51866)), Contains("yue"));
}

TEST(LanguageTest, MoreTokensAreNoMoreLanguages) {
  EXPECT_EQ(LanguageCount(ModelOf(51866)), 100);
  EXPECT_EQ(LanguageCount(ModelOf(51900)), 100);
  EXPECT_THAT(LanguagesOf(ModelOf(51900)), SizeIs(100));
}

TEST(LanguageTest, TagsAreTheLibrarysCodes) {
  EXPECT_EQ(*ResolveLanguage("de", ModelOf(51865)), "de");
  EXPECT_EQ(*ResolveLanguage("de-AT", ModelOf(51865)), "de");
  EXPECT_EQ(*ResolveLanguage("EN_us", ModelOf(51864)), "en");
  EXPECT_EQ(*ResolveLanguage("yue", ModelOf(51866)), "yue");
}

TEST(LanguageTest, NamesAndOlderCodesAreUnderstood) {
  for (const auto& [tag, code] :
       std::vector<std::pair<std::string, std::string>>{{"English", "en"},
                                                        {"german", "de"},
                                                        {"Norwegian", "no"},
                                                        {"nb", "no"},
                                                        {"nb-NO", "no"},
                                                        {"iw", "he"},
                                                        {"in", "id"},
                                                        {"ji", "yi"},
                                                        {"jv", "jw"},
                                                        {"cmn", "zh"},
                                                        {"cmn-Hans", "zh"},
                                                        {"Mandarin", "zh"},
                                                        {"haitian creole", "ht"},
                                                        {"deu", "de"},
                                                        {"FLEMISH", "nl"},
                                                        {"zh_TW", "zh"}}) {
    const auto resolved = ResolveLanguage(tag, ModelOf(51865));
    ASSERT_TRUE(resolved.ok()) << tag << resolved.status();
    EXPECT_EQ(*resolved, code) << tag;
  }
  EXPECT_EQ(*ResolveLanguage("Cantonese", ModelOf(51866)), "yue");
}

TEST(LanguageTest, NoAliasHidesACodeOfTheLibrary) {
  for (const std::string& code : LanguagesOf(ModelOf(51866))) {
    EXPECT_EQ(*ResolveLanguage(code, ModelOf(51866)), code);
  }
}

TEST(LanguageTest, NoneIsDetectedOrEnglish) {
  EXPECT_EQ(*ResolveLanguage("auto", ModelOf(51865)), "");
  EXPECT_EQ(*ResolveLanguage("Auto", ModelOf(51864)), "en");
  EXPECT_EQ(*ResolveLanguage("", ModelOf(51865)), "");
  EXPECT_EQ(*ResolveLanguage("", ModelOf(51864)), "en");
}

TEST(LanguageTest, WhatTheModelLacksIsUnimplemented) {
  const absl::Status english = ResolveLanguage("de", ModelOf(51864)).status();
  EXPECT_EQ(english.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(english.message()), HasSubstr("English only"));
  EXPECT_EQ(ResolveLanguage("yue", ModelOf(51865)).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(LanguageTest, WhatIsNoLanguageIsRefusedWithAList) {
  for (const char* tag : {"xx", "germanic", "auto-detect", "-", "e", "english please", "\xFF"}) {
    const absl::Status status = ResolveLanguage(tag, ModelOf(51865)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << tag;
    EXPECT_THAT(std::string(status.message()), HasSubstr(" de "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(" yue "));
  }
}

}  // namespace
}  // namespace superfluid
