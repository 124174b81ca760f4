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
  EXPECT_EQ(Hash(""), "1d5d477c9334c3d7728facd520856633963755763f259fa17cce014f1addbbb9");
  EXPECT_EQ(Hash(folder_.Write("m", "model"), {{"b", "2"}, {"a", "1"}}),
            "fe2647d67513cde120262c036a3f8136a67361e550ee24a55cebc4c6f321297c");
  folder_.Write("model/x", "1");
  folder_.Write("model/sub/y", "22");
  folder_.Write("model/a-b", "");
  folder_.Write("model/a/b", "333");
  std::filesystem::create_directories(folder_.Path("model/empty"));
  EXPECT_EQ(Hash(folder_.Path("model")),
            "ffd4d7f428ce770e86d3221e333551fff9bab4635d682ef13e4f3d8508f54e2a");
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
