#include "engine/loader/bundle_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/engine/loader/temp_folder.h"

namespace superfluid {
namespace {

using testing::TempFolder;
namespace fs = std::filesystem;

class BundleMemoryTest : public ::testing::Test {
 protected:
  // Long after the files were written.
  BundleMemory Memory() const {
    return {
        .folder = folder_.Path("memory"), .least_bytes = 1, .now_s = int64_t{time(nullptr)} + 3600};
  }
  std::array<uint8_t, 32> Hash(const BundleMemory& memory, const EngineOptions& options = {}) {
    const auto hash = RememberedBundleHash(memory, library_, model_, options);
    EXPECT_TRUE(hash.ok()) << hash.status();
    return hash.value_or(std::array<uint8_t, 32>{});
  }
  std::array<uint8_t, 32> Computed(const EngineOptions& options = {}) {
    return *EngineBundleHash(library_, model_, options);
  }
  std::vector<fs::path> Kept() const {
    std::vector<fs::path> kept;
    if (!fs::exists(Memory().folder)) return kept;
    for (const auto& entry : fs::directory_iterator(Memory().folder)) kept.push_back(entry.path());
    return kept;
  }
  // What is kept from now on says that the hash is all zero: who believes it has not read the
  // files.
  void Mark() {
    for (const fs::path& path : Kept()) std::ofstream(path) << std::string(64, '0');
  }

  TempFolder folder_;
  std::string library_ = folder_.Write("lib.so", "library");
  std::string model_ = folder_.Write("model", "weights");
  const std::array<uint8_t, 32> kMarked = {};
};

TEST_F(BundleMemoryTest, FilesThatDidNotChangeAreNotReadAgain) {
  EXPECT_EQ(Hash(Memory()), Computed());
  ASSERT_EQ(Kept().size(), 1U);
  EXPECT_EQ(Hash(Memory()), Computed());
  Mark();
  EXPECT_EQ(Hash(Memory()), kMarked);
}

TEST_F(BundleMemoryTest, AnotherModelOfTheSameSizeAndMtimeIsReadAgain) {
  Hash(Memory());
  Mark();
  const auto before = fs::last_write_time(model_);
  folder_.Write("model", "WEIGHTS");
  fs::last_write_time(model_, before);  // as a copy that keeps times does
  EXPECT_EQ(Hash(Memory()), Computed());
}

TEST_F(BundleMemoryTest, OtherOptionsAreAnotherBundle) {
  Hash(Memory());
  Mark();
  EXPECT_EQ(Hash(Memory(), {{"a", "1"}}), Computed({{"a", "1"}}));
  EXPECT_EQ(Kept().size(), 2U);
}

TEST_F(BundleMemoryTest, AnotherFileBehindAnOptionIsReadAgain) {
  const EngineOptions options = {{"mmproj", folder_.Write("projector", "one")}};
  Hash(Memory(), options);
  Mark();
  EXPECT_EQ(Hash(Memory(), options), kMarked);
  folder_.Write("projector", "two");
  EXPECT_EQ(Hash(Memory(), options), Computed(options));
}

TEST_F(BundleMemoryTest, EveryShardOfASplitModelIsLookedAt) {
  model_ = folder_.Write("m-00001-of-00002.gguf", "one");
  folder_.Write("m-00002-of-00002.gguf", "two");
  Hash(Memory());
  Mark();
  EXPECT_EQ(Hash(Memory()), kMarked);
  folder_.Write("m-00002-of-00002.gguf", "TWO");
  EXPECT_EQ(Hash(Memory()), Computed());
}

TEST_F(BundleMemoryTest, AFolderIsRememberedWithItsNames) {
  model_ = folder_.Path("models");
  folder_.Write("models/a", "one");
  Hash(Memory());
  Mark();
  EXPECT_EQ(Hash(Memory()), kMarked);
  fs::rename(folder_.Path("models/a"), folder_.Path("models/b"));
  EXPECT_EQ(Hash(Memory()), Computed());
}

TEST_F(BundleMemoryTest, WhatChangedAMomentAgoIsNotKept) {
  BundleMemory memory = Memory();
  memory.now_s = 0;
  EXPECT_EQ(Hash(memory), Computed());
  EXPECT_TRUE(Kept().empty());
}

TEST_F(BundleMemoryTest, SmallFilesAreNotKept) {
  BundleMemory memory = Memory();
  memory.least_bytes = kRememberedBytes;
  EXPECT_EQ(Hash(memory), Computed());
  EXPECT_TRUE(Kept().empty());
}

TEST_F(BundleMemoryTest, AFolderThatOthersMayWriteToIsNotBelieved) {
  Hash(Memory());
  Mark();
  fs::permissions(Memory().folder, fs::perms::all);
  EXPECT_EQ(Hash(Memory()), Computed());
}

TEST_F(BundleMemoryTest, WhatIsKeptDamagedIsNotBelieved) {
  Hash(Memory());
  for (const std::string& text : {std::string(), std::string(64, 'x'), std::string(65, '0')}) {
    for (const fs::path& path : Kept()) std::ofstream(path) << text;
    EXPECT_EQ(Hash(Memory()), Computed()) << text;
  }
}

TEST_F(BundleMemoryTest, NowhereToKeepItIsNoError) {
  BundleMemory memory = Memory();
  memory.folder = "";
  EXPECT_EQ(Hash(memory), Computed());
  memory.folder = "/proc/no/such";
  EXPECT_EQ(Hash(memory), Computed());
}

TEST_F(BundleMemoryTest, AModelThatIsNotThereIsAnError) {
  model_ = folder_.Path("none");
  EXPECT_FALSE(RememberedBundleHash(Memory(), library_, model_, {}).ok());
}

TEST_F(BundleMemoryTest, TheOldestGiveWay) {
  fs::create_directories(Memory().folder);
  fs::permissions(Memory().folder, fs::perms::owner_all);
  for (int i = 0; i < 300; ++i) std::ofstream(Memory().folder + "/" + std::to_string(i)) << i;
  Hash(Memory());
  EXPECT_EQ(Kept().size(), 256U);
  Mark();
  EXPECT_EQ(Hash(Memory()), kMarked) << "the newest was not kept";
}

}  // namespace
}  // namespace superfluid
