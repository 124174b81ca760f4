#include "tools/ctl/base/temporary_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

namespace superfluid::ctl {
namespace {

namespace fs = std::filesystem;

TemporaryFile MakeFile(const std::string& begin) {
  absl::StatusOr<TemporaryFile> file =
      TemporaryFile::Create(testing::TempDir() + "/" + begin, ".end");
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST(TemporaryFileTest, GoesUnlessItIsKept) {
  std::string path;
  {
    const TemporaryFile file = MakeFile("gone-");
    path = file.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600));
    EXPECT_EQ(path.substr(path.size() - 4), ".end");
  }
  EXPECT_FALSE(fs::exists(path));
  {
    TemporaryFile file = MakeFile("kept-");
    path = file.path();
    file.Keep();
  }
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

TEST(TemporaryFileTest, GoesOnceWhenItWasMoved) {
  TemporaryFile file = MakeFile("moved-");
  const std::string path = file.path();
  {
    const TemporaryFile other(std::move(file));
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFileTest, KnowsThatItsNameIsGone) {
  const TemporaryFile file = MakeFile("nameless-");
  EXPECT_TRUE(file.HasName());
  fs::remove(file.path());
  EXPECT_FALSE(file.HasName());
}

TEST(TemporaryFileTest, AProcessThatEndsOnTheSpotRemovesThoseThatAreNotKept) {
  const TemporaryFile file = MakeFile("open-");
  TemporaryFile kept = MakeFile("safe-");
  const std::string kept_path = kept.path();
  kept.Keep();
  RemoveTemporaryFiles();
  EXPECT_FALSE(fs::exists(file.path()));
  EXPECT_TRUE(fs::exists(kept_path));
  fs::remove(kept_path);
}

TEST(TemporaryFileTest, SaysWhyThereIsNone) {
  EXPECT_EQ(TemporaryFile::Create("/nowhere/at/all/x", "").status().message(),
            "No such file or directory");
}

}  // namespace
}  // namespace superfluid::ctl
