#include "engine/audio/media_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace superfluid {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

using OpenFunction = absl::StatusOr<int> (*)(const std::string&, std::string_view);

// Both ways must agree, so that a machine with an old kernel behaves the same.
class MediaPathTest : public testing::TestWithParam<OpenFunction> {
 protected:
  void SetUp() override {
    base_ = fs::path(testing::TempDir()) /
            ("media" + std::to_string(getpid()) +
             testing::UnitTest::GetInstance()->current_test_info()->name()[0]);
    fs::remove_all(base_);
    root_ = base_ / "root";
    fs::create_directories(root_ / "talks" / "old");
    fs::create_directories(base_ / "root2");
    Write(root_ / "a.wav", "A");
    Write(root_ / "talks" / "b.wav", "B");
    Write(base_ / "secret.wav", "S");
    Write(base_ / "root2" / "c.wav", "C");
  }

  void TearDown() override { fs::remove_all(base_); }

  static void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  absl::StatusOr<int> Open(std::string_view path) { return GetParam()(root_, path); }

  // The content of the file that was opened, or the name of the error.
  std::string Content(std::string_view path) {
    absl::StatusOr<int> fd = Open(path);
    if (!fd.ok()) return absl::StatusCodeToString(fd.status().code());
    char byte = 0;
    EXPECT_EQ(read(*fd, &byte, 1), 1);
    EXPECT_EQ(fcntl(*fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(*fd);
    return {byte};
  }

  std::string Message(std::string_view path) { return std::string(Open(path).status().message()); }

  fs::path base_;
  fs::path root_;
};

TEST_P(MediaPathTest, OpensRelativeAndAbsolutePaths) {
  EXPECT_EQ(Content("a.wav"), "A");
  EXPECT_EQ(Content("talks/b.wav"), "B");
  EXPECT_EQ(Content("./talks//b.wav"), "B");
  EXPECT_EQ(Content((root_ / "a.wav").string()), "A");
}

TEST_P(MediaPathTest, DotsMayNotLeadOut) {
  EXPECT_EQ(Content("talks/../a.wav"), "A");
  EXPECT_EQ(Content("../secret.wav"), "PERMISSION_DENIED");
  EXPECT_EQ(Content("talks/../../secret.wav"), "PERMISSION_DENIED");
  EXPECT_EQ(Content("../root/a.wav"), "PERMISSION_DENIED");
  EXPECT_EQ(Content((root_ / "../secret.wav").string()), "PERMISSION_DENIED");
}

TEST_P(MediaPathTest, AbsolutePathsElsewhereAreOutside) {
  EXPECT_EQ(Content((base_ / "secret.wav").string()), "PERMISSION_DENIED");
  EXPECT_EQ(Content((base_ / "root2/c.wav").string()), "PERMISSION_DENIED")
      << "a sibling whose name begins with the root's";
  EXPECT_EQ(Content("/etc/passwd"), "PERMISSION_DENIED");
}

TEST_P(MediaPathTest, LinksThatStayInsideAreFollowed) {
  fs::create_symlink("talks/b.wav", root_ / "relative.wav");
  fs::create_symlink("../a.wav", root_ / "talks" / "up.wav");
  fs::create_symlink(root_ / "a.wav", root_ / "absolute.wav");
  fs::create_directory_symlink("talks", root_ / "folder");
  EXPECT_EQ(Content("relative.wav"), "B");
  EXPECT_EQ(Content("talks/up.wav"), "A");
  EXPECT_EQ(Content("absolute.wav"), "A");
  EXPECT_EQ(Content("folder/b.wav"), "B");
  EXPECT_EQ(Content("folder/../a.wav"), "A");
}

TEST_P(MediaPathTest, LinksThatLeadOutAreRefused) {
  fs::create_symlink("../secret.wav", root_ / "relative.wav");
  fs::create_symlink(base_ / "secret.wav", root_ / "absolute.wav");
  fs::create_directory_symlink("..", root_ / "up");
  fs::create_directory_symlink("/", root_ / "slash");
  fs::create_symlink("../root/a.wav", root_ / "out_and_in.wav");
  EXPECT_EQ(Content("relative.wav"), "PERMISSION_DENIED");
  EXPECT_EQ(Content("absolute.wav"), "PERMISSION_DENIED");
  EXPECT_EQ(Content("up/secret.wav"), "PERMISSION_DENIED");
  EXPECT_EQ(Content("slash/etc/passwd"), "PERMISSION_DENIED");
  EXPECT_EQ(Content("out_and_in.wav"), "PERMISSION_DENIED");
}

TEST_P(MediaPathTest, ALinkToItselfIsInvalid) {
  fs::create_symlink("loop.wav", root_ / "loop.wav");
  EXPECT_EQ(Content("loop.wav"), "INVALID_ARGUMENT");
}

TEST_P(MediaPathTest, ARootThatIsALinkWorks) {
  fs::create_directory_symlink("root", base_ / "alias");
  const std::string alias = base_ / "alias";
  const auto opens = [&](const std::string& path) {
    absl::StatusOr<int> fd = GetParam()(alias, path);
    if (fd.ok()) close(*fd);
    return fd.ok();
  };
  EXPECT_TRUE(opens("a.wav"));
  EXPECT_TRUE(opens(alias + "/a.wav"));
  EXPECT_TRUE(opens((root_ / "a.wav").string()));
  EXPECT_FALSE(opens((base_ / "secret.wav").string()));
}

TEST_P(MediaPathTest, SlashMeansUnrestricted) {
  absl::StatusOr<int> fd = GetParam()("/", (base_ / "secret.wav").string());
  ASSERT_TRUE(fd.ok()) << fd.status();
  close(*fd);
}

TEST_P(MediaPathTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(Content("pipe"), "INVALID_ARGUMENT");
  EXPECT_THAT(Message("pipe"), HasSubstr("\"pipe\" is not a regular file"));
  EXPECT_EQ(Content("talks"), "INVALID_ARGUMENT");
  EXPECT_THAT(Message("talks"), HasSubstr("\"talks\" is a folder"));
  EXPECT_EQ(Content("."), "INVALID_ARGUMENT");
  EXPECT_EQ(GetParam()("/", "/dev/null").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(MediaPathTest, RefusesImpossiblePaths) {
  EXPECT_EQ(Content(""), "INVALID_ARGUMENT");
  EXPECT_EQ(Content(std::string_view("a.wav\0.mp3", 10)), "INVALID_ARGUMENT");
  EXPECT_EQ(Content(std::string(5000, 'x')), "INVALID_ARGUMENT");
  EXPECT_EQ(Content(std::string(300, 'x')), "INVALID_ARGUMENT");
}

TEST_P(MediaPathTest, MissingIsNotFound) {
  EXPECT_EQ(Content("missing.wav"), "NOT_FOUND");
  EXPECT_EQ(Content("talks/none/b.wav"), "NOT_FOUND");
  EXPECT_EQ(Content("a.wav/b"), "NOT_FOUND") << "a file is no folder";
  fs::create_symlink("nowhere", root_ / "dangling");
  EXPECT_EQ(Content("dangling"), "NOT_FOUND");
}

TEST_P(MediaPathTest, ErrorsNameThePathAsGivenAndNothingElse) {
  for (const char* path : {"missing.wav", "../secret.wav", "talks"}) {
    EXPECT_THAT(Message(path), HasSubstr("\"" + std::string(path) + "\""));
    EXPECT_THAT(Message(path), Not(HasSubstr(base_.string())));
  }
}

TEST_P(MediaPathTest, AMissingRootIsAFailedPrecondition) {
  EXPECT_EQ(GetParam()(base_ / "none", "a.wav").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_P(MediaPathTest, LeavesNoDescriptorsOpen) {
  const auto count = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = count();
  for (int i = 0; i < 3; ++i) {
    Content("talks/../talks/b.wav");
    Content("../secret.wav");
    Content("talks/old");
  }
  EXPECT_EQ(count(), before);
}

std::string NameOfWay(const testing::TestParamInfo<OpenFunction>& way) {
  constexpr const char* names[] = {"System", "Walk", "SystemWithoutProc", "WalkWithoutProc"};
  return names[way.index];
}

INSTANTIATE_TEST_SUITE_P(Ways, MediaPathTest,
                         testing::Values(&OpenUnderRoot,
                                         &media_path_internal::OpenUnderRootByWalking,
                                         &media_path_internal::OpenUnderRootWithoutProc,
                                         &media_path_internal::OpenUnderRootByWalkingWithoutProc),
                         NameOfWay);

}  // namespace
}  // namespace superfluid
