#include "engine/loader/bundle_hash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "tests/engine/loader/temp_folder.h"

namespace superfluid {
namespace {

using testing::TempFolder;

class BundleHashTest : public ::testing::Test {
 protected:
  std::string Hash(const std::string& model, const EngineOptions& options = {}) {
    const auto hash = EngineBundleHash(library_, model, options);
    EXPECT_TRUE(hash.ok()) << hash.status();
    if (!hash.ok()) return "";
    return absl::BytesToHexString(
        absl::string_view(reinterpret_cast<const char*>(hash->data()), hash->size()));
  }
  absl::StatusCode ErrorOf(const std::string& model) {
    return EngineBundleHash(library_, model, {}).status().code();
  }

  TempFolder folder_;
  std::string library_ = folder_.Write("lib.so", "library");
};

// The expected values come from another implementation of the header's description.
TEST_F(BundleHashTest, KnownValues) {
  EXPECT_EQ(Hash(""), "ae181acf9b45cb14734aa26fbe60a077e8c51f3063bc478aae39cdfaf6cba568");
  EXPECT_EQ(Hash(folder_.Write("m", "model"), {{"b", "2"}, {"a", "1"}}),
            "39867b506ebf9e26c4ecfa2e73c0b51d53fb9bab31c2cbc3273dc02493a6383c");
  folder_.Write("model/x", "1");
  folder_.Write("model/sub/y", "22");
  folder_.Write("model/a-b", "");
  folder_.Write("model/a/b", "333");
  std::filesystem::create_directories(folder_.Path("model/empty"));
  EXPECT_EQ(Hash(folder_.Path("model")),
            "b7a2cb3ab85cdac039f9df13afebb4fa6752dac036c86013ff4d52717a356bdf");
}

TEST_F(BundleHashTest, ChangesWithEachPart) {
  std::set<std::string> hashes;
  const std::string model = folder_.Write("model/a", "contents");
  hashes.insert(Hash(""));
  hashes.insert(Hash(model));
  hashes.insert(Hash(folder_.Path("model")));
  hashes.insert(Hash("", {{"k", "v"}}));
  hashes.insert(Hash("", {{"kv", ""}}));
  hashes.insert(Hash("", {{"", "kv"}}));
  hashes.insert(Hash("", {{"k", "v"}, {"k", "w"}}));
  hashes.insert(Hash("", {{"k", "w"}, {"k", "v"}}));
  folder_.Write("model/a", "Contents");
  hashes.insert(Hash(folder_.Path("model")));
  std::filesystem::rename(folder_.Path("model/a"), folder_.Path("model/b"));
  hashes.insert(Hash(folder_.Path("model")));
  folder_.Write("model/c", "");
  hashes.insert(Hash(folder_.Path("model")));
  folder_.Write("lib.so", "librarz");
  hashes.insert(Hash(""));
  EXPECT_EQ(hashes.size(), 12U);
}

TEST_F(BundleHashTest, BytesCannotMoveFromOneFileToTheNext) {
  folder_.Write("one/a", "12");
  folder_.Write("one/b", "3");
  folder_.Write("two/a", "1");
  folder_.Write("two/b", "23");
  EXPECT_NE(Hash(folder_.Path("one")), Hash(folder_.Path("two")));
}

TEST_F(BundleHashTest, DoesNotChangeOtherwise) {
  folder_.Write("one/a", "1");
  folder_.Write("one/sub/b", "2");
  const std::string before = Hash(folder_.Path("one"), {{"x", "1"}, {"y", "2"}});
  // Another place, written in another order, other times, a link in place of a copy.
  folder_.Write("two/sub/b", "2");
  folder_.Write("elsewhere", "1");
  std::filesystem::create_symlink(folder_.Path("elsewhere"), folder_.Path("two/a"));
  std::filesystem::last_write_time(folder_.Path("two/sub/b"), {});
  EXPECT_EQ(Hash(folder_.Path("two"), {{"y", "2"}, {"x", "1"}}), before);
  EXPECT_EQ(Hash(folder_.Path("two/"), {{"x", "1"}, {"y", "2"}}), before);
}

// A projector or a voice detector is part of what computes; where it lies is not.
TEST_F(BundleHashTest, FilesOfOptionsCountByWhatTheyHold) {
  const std::string before = Hash("", {{"mmproj", folder_.Write("a/projector", "1")}});
  EXPECT_EQ(Hash("", {{"mmproj", folder_.Write("b/other", "1")}}), before);
  folder_.Write("a/projector", "2");
  EXPECT_NE(Hash("", {{"mmproj", folder_.Path("a/projector")}}), before);
  EXPECT_NE(Hash("", {{"mmproj", "1"}}), before);
  // A folder's name is a text like any other.
  EXPECT_EQ(Hash("", {{"x", folder_.Path("a")}}), Hash("", {{"x", folder_.Path("a")}}));
}

TEST_F(BundleHashTest, EveryShardOfASplitModelCounts) {
  const std::string first = folder_.Write("m-00001-of-00003.gguf", "1");
  EXPECT_EQ(ErrorOf(first), absl::StatusCode::kNotFound);
  folder_.Write("m-00002-of-00003.gguf", "2");
  folder_.Write("m-00003-of-00003.gguf", "3");
  const std::string before = Hash(first);
  folder_.Write("m-00003-of-00003.gguf", "4");
  EXPECT_NE(Hash(first), before);
  // A name that looks like one, but is none.
  for (const char* name : {"m-00002-of-00003.gguf", "m-00001-of-0003.gguf", "m-00001-of-00001.gguf",
                           "m-00001-of-00000.gguf", "m-00001-of-+0003.gguf", "-of-00003.gguf"}) {
    EXPECT_EQ(Hash(folder_.Write(name, "x")), Hash(folder_.Write("x", "x"))) << name;
  }
}

TEST_F(BundleHashTest, HashesLargeFilesInPieces) {
  std::string large(3'000'001, 'x');
  const std::string one = Hash(folder_.Write("large", large));
  large.back() = 'y';
  const std::string two = Hash(folder_.Write("large", large));
  EXPECT_NE(one, two);
}

TEST_F(BundleHashTest, FollowsLinksToFolders) {
  folder_.Write("real/a", "1");
  folder_.Write("copied/sub/a", "1");
  std::filesystem::create_directories(folder_.Path("linked"));
  std::filesystem::create_directory_symlink(folder_.Path("real"), folder_.Path("linked/sub"));
  EXPECT_EQ(Hash(folder_.Path("linked")), Hash(folder_.Path("copied")));
}

TEST_F(BundleHashTest, RefusesFoldersThatContainThemselves) {
  folder_.Write("model/sub/a", "1");
  std::filesystem::create_directory_symlink(folder_.Path("model"), folder_.Path("model/sub/up"));
  EXPECT_EQ(ErrorOf(folder_.Path("model")), absl::StatusCode::kInvalidArgument);
}

TEST_F(BundleHashTest, RefusesTooManyLevels) {
  std::string name = "deep";
  for (int i = 0; i < 63; ++i) name += "/d";
  folder_.Write(name + "/a", "1");
  EXPECT_NE(Hash(folder_.Path("deep")), "");
  folder_.Write(name + "/e/a", "1");
  EXPECT_EQ(ErrorOf(folder_.Path("deep")), absl::StatusCode::kInvalidArgument);
}

// Somebody named a folder that is no model at all, such as /usr.
TEST_F(BundleHashTest, RefusesTooManyEntries) {
  std::filesystem::create_directories(folder_.Path("usr"));
  for (int i = 0; i <= 10'000; ++i) {
    std::filesystem::create_directory(folder_.Path("usr/" + std::to_string(i)));
  }
  const absl::Status status =
      EngineBundleHash(folder_.Write("lib.so", "library"), folder_.Path("usr"), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find("is no model: it holds more than 10000"),
            std::string::npos)
      << status;
}

TEST_F(BundleHashTest, RefusesWhatIsNoFile) {
  folder_.Write("model/a", "1");
  ASSERT_EQ(mkfifo(folder_.Path("model/fifo").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(folder_.Path("model")), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(folder_.Path("model/fifo")), absl::StatusCode::kInvalidArgument);
}

TEST_F(BundleHashTest, ReportsWhatIsMissing) {
  EXPECT_EQ(ErrorOf(folder_.Path("none")), absl::StatusCode::kNotFound);
  EXPECT_EQ(EngineBundleHash(folder_.Path("none"), "", {}).status().code(),
            absl::StatusCode::kNotFound);
  folder_.Write("model/a", "1");
  std::filesystem::create_symlink(folder_.Path("none"), folder_.Path("model/dangling"));
  EXPECT_EQ(ErrorOf(folder_.Path("model")), absl::StatusCode::kNotFound);
}

TEST_F(BundleHashTest, ALibraryMustBeAFile) {
  EXPECT_EQ(EngineBundleHash(folder_.Path(""), "", {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// A file of /proc says that it has no bytes, and then has some: a file that changes while it is
// read.
TEST_F(BundleHashTest, AFileThatChangesIsAborted) {
  EXPECT_EQ(ErrorOf("/proc/self/status"), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace superfluid
