#include "engine/whisper/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

TEST(LanguageTest, TagsAreTheLibrarysCodes) {
  EXPECT_EQ(*ResolveLanguage("de", ModelOf(51865)), "de");
  EXPECT_EQ(*ResolveLanguage("de-AT", ModelOf(51865)), "de");
  EXPECT_EQ(*ResolveLanguage("EN_us", ModelOf(51864)), "en");
  EXPECT_EQ(*ResolveLanguage("yue", ModelOf(51866)), "yue");
}

TEST(LanguageTest, NoneIsDetectedOrEnglish) {
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
  for (const char* tag : {"xx", "german", "-", "e", "english please", "\xFF"}) {
    const absl::Status status = ResolveLanguage(tag, ModelOf(51865)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << tag;
    EXPECT_THAT(std::string(status.message()), HasSubstr(" de "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(" yue "));
  }
}

}  // namespace
}  // namespace superfluid
