#include "tools/worker/model_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ModelFilesTest : public ::testing::Test {
 protected:
  ModelFilesTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    model_ = Write("model.gguf", "the weights");
    config_.model_path = model_;
  }
  std::string Write(const std::string& name, const std::string& bytes) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::trunc) << bytes;
    // Whatever the clock's grain is.
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type(std::chrono::hours(++writes_)));
    return path;
  }

  const std::string folder_ = ::testing::TempDir() + "/model_watch";
  int writes_ = 0;
  std::string model_;
  EngineConfig config_;
};

TEST_F(ModelFilesTest, AFileThatIsWrittenOverIsSaidOnce) {
  ModelFiles files(config_);
  EXPECT_THAT(files.TakeChanged(), IsEmpty());
  Write("model.gguf", "other words");
  EXPECT_THAT(files.TakeChanged(), ElementsAre(model_));
  EXPECT_THAT(files.TakeChanged(), IsEmpty());
}

TEST_F(ModelFilesTest, AFileThatIsCutShortIsSaid) {
  ModelFiles files(config_);
  std::filesystem::resize_file(model_, 3);
  EXPECT_THAT(files.TakeChanged(), ElementsAre(model_));
}

TEST_F(ModelFilesTest, AFileThatIsReplacedIsNoChange) {
  ModelFiles files(config_);
  std::filesystem::rename(Write("new", "a new model"), model_);
  EXPECT_THAT(files.TakeChanged(), IsEmpty());
  Write("model.gguf", "which is none of ours");
  EXPECT_THAT(files.TakeChanged(), IsEmpty());
  std::filesystem::remove(model_);
  EXPECT_THAT(files.TakeChanged(), IsEmpty());
}

TEST_F(ModelFilesTest, FoldersAndOptionsHaveFilesToo) {
  config_.model_path = folder_;
  std::filesystem::create_directories(folder_ + "/inner");
  const std::string other = folder_ + "/mmproj.gguf";
  config_.options = {{"mmproj", Write("mmproj.gguf", "m")}, {"threads", "3"}, {"none", ""}};
  ModelFiles files(config_);
  EXPECT_EQ(files.size(), 3U) << "the model, the projector, and the projector by its option";
  Write("mmproj.gguf", "n");
  EXPECT_THAT(files.TakeChanged(), ElementsAre(other, other));
}

TEST_F(ModelFilesTest, WithoutAModelThereIsNothingToLookAt) {
  EXPECT_EQ(ModelFiles(EngineConfig()).size(), 0U);
}

}  // namespace
}  // namespace superfluid
