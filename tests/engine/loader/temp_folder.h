#ifndef SUPERFLUID_TESTS_ENGINE_LOADER_TEMP_FOLDER_H_
#define SUPERFLUID_TESTS_ENGINE_LOADER_TEMP_FOLDER_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace superfluid::testing {

// A folder that is gone at the end of the test.
class TempFolder {
 public:
  TempFolder() {
    std::string name = ::testing::TempDir() + "/folder_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = std::filesystem::canonical(name);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string Path(const std::string& name) const {
    return name.empty() ? folder_.string() : (folder_ / name).string();
  }
  // Writes a file, and makes the folders that it lies in. Returns its path.
  std::string Write(const std::string& name, const std::string& contents) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << contents;
    return path.string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_LOADER_TEMP_FOLDER_H_
