#include "engine/pocketsphinx/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace superfluid {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ModelFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "my-model";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "acoustic");
    Write("acoustic/mdef", "BMDF....");
    Write("acoustic/means", "s3\nversion 1.0\n");
    Write("acoustic/variances", "s3\nversion 1.0\n");
    Write("acoustic/transition_matrices", "s3\nversion 1.0\n");
    Write("acoustic/sendump", "\x1e");
    Write("words.lm.bin", "Trie Language Model...");
    Write("words.dict", "a AH\n");
  }

  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  absl::StatusOr<ModelFiles> Find() { return FindModelFiles(folder_); }

  void ExpectError(absl::StatusCode code, const std::string& text) {
    const absl::Status status = Find().status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }

  fs::path folder_;
};

TEST_F(ModelFilesTest, FindsTheParts) {
  absl::StatusOr<ModelFiles> model = Find();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, "my-model");
  EXPECT_THAT(model->acoustic_model, EndsWith("my-model/acoustic"));
  EXPECT_THAT(model->language_model, EndsWith("my-model/words.lm.bin"));
  EXPECT_THAT(model->dictionary, EndsWith("my-model/words.dict"));
}

TEST_F(ModelFilesTest, FindsTheDistributionsModel) {
  absl::StatusOr<ModelFiles> model = FindModelFiles("");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name, "en-us");
  EXPECT_THAT(model->language_model, EndsWith("/en-us.lm.bin"));
  EXPECT_EQ(FindModelFiles(std::string(kDefaultModelFolder) + "/")->name, "en-us");
}

TEST_F(ModelFilesTest, TheAcousticModelMayBeTheFolderItself) {
  for (const char* part : {"mdef", "means", "variances", "transition_matrices", "sendump"}) {
    fs::rename(folder_ / "acoustic" / part, folder_ / part);
  }
  EXPECT_TRUE(Find().ok()) << Find().status();
}

TEST_F(ModelFilesTest, AMissingPartIsNotFound) {
  fs::remove(folder_ / "words.dict");
  ExpectError(absl::StatusCode::kNotFound, "holds no dictionary");
  fs::remove(folder_ / "words.lm.bin");
  ExpectError(absl::StatusCode::kNotFound, "holds no language model");
  fs::remove(folder_ / "acoustic/means");
  ExpectError(absl::StatusCode::kNotFound, "acoustic/means");
  fs::remove(folder_ / "acoustic/mdef");
  ExpectError(absl::StatusCode::kNotFound, "holds no acoustic model");
  fs::remove_all(folder_);
  ExpectError(absl::StatusCode::kNotFound, "there is no model folder");
}

TEST_F(ModelFilesTest, APartOfAnotherKindIsInvalid) {
  Write("words.dict", std::string("\0\1\2", 3));
  ExpectError(absl::StatusCode::kInvalidArgument, "words.dict");
  Write("words.lm.bin", "nonsense");
  ExpectError(absl::StatusCode::kInvalidArgument, "words.lm.bin");
  Write("acoustic/means", "");
  ExpectError(absl::StatusCode::kInvalidArgument, "acoustic/means");
  Write("acoustic/mdef", "RIFF");
  ExpectError(absl::StatusCode::kInvalidArgument, "acoustic/mdef");
}

TEST_F(ModelFilesTest, OfSeveralTheOneNamedAsTheFolderWins) {
  Write("other.dict", "a AH\n");
  ExpectError(absl::StatusCode::kInvalidArgument, "more than one dictionary");
  Write("my-model.dict", "a AH\n");
  absl::StatusOr<ModelFiles> model = Find();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(model->dictionary, EndsWith("my-model.dict"));
}

}  // namespace
}  // namespace superfluid
