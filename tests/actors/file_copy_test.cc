#include "actors/state_ops/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "shm/owned_fd.h"

namespace superfluid {
namespace {

using linkw::Status;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class FileCopyTest : public testing::Test {
 protected:
  FileCopyTest() { mkdir(root_.c_str(), 0700); }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(root_ + "/" + name, std::ios::binary) << bytes;
  }
  absl::StatusOr<CopiedFile> Copy(const std::string& path) {
    return CopyFile(root_, path, most_, *budget_, token_);
  }
  Status StatusOf(const std::string& path) { return linkw::FromAbsl(Copy(path).status()); }
  static std::string Contents(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string root_ = testing::TempDir() + "/file_copy";
  uint64_t most_ = 4 * kMiB;
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(6 * kMiB);
  CancelToken token_;
};

TEST_F(FileCopyTest, TheCopyIsWhatTheFileWas) {
  std::string bytes(3 * kMiB + 17, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 7);
  Write("file", bytes);
  const absl::StatusOr<CopiedFile> copy = Copy("file");
  ASSERT_TRUE(copy.ok()) << copy.status();
  Write("file", "something else");
  EXPECT_EQ(Contents(copy->name), bytes);
  const OwnedFd again(open(copy->name.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(!again.valid() || write(again.get(), "x", 1) < 0) << "it is sealed";
}

TEST_F(FileCopyTest, AnEmptyFileIsCopied) {
  Write("empty", "");
  const absl::StatusOr<CopiedFile> copy = Copy("empty");
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(Contents(copy->name), "");
}

TEST_F(FileCopyTest, FilesAreFoundBelowTheirRootOnly) {
  EXPECT_EQ(StatusOf("../x"), Status::kPermissionDenied);
  EXPECT_EQ(StatusOf("/etc/passwd"), Status::kPermissionDenied);
  EXPECT_EQ(StatusOf("missing"), Status::kNotFound);
  EXPECT_EQ(StatusOf(""), Status::kInvalidArgument);
  EXPECT_EQ(StatusOf("."), Status::kInvalidArgument) << "a folder";
}

TEST_F(FileCopyTest, AFileThatIsTooLargeIsRefusedBeforeItIsRead) {
  Write("large", "");
  ASSERT_EQ(truncate((root_ + "/large").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(StatusOf("large"), Status::kInvalidArgument);
}

TEST_F(FileCopyTest, CopiesTakeNoMoreMemoryThanTheyMay) {
  Write("file", std::string(4 * kMiB, 'x'));
  {
    const absl::StatusOr<CopiedFile> first = Copy("file");
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(StatusOf("file"), Status::kBusy);
  }
  EXPECT_EQ(StatusOf("file"), Status::kOk) << "the first has gone";
  EXPECT_EQ(StatusOf("file"), Status::kOk);
}

TEST_F(FileCopyTest, StopsWhenItIsCancelledAndGivesItsMemoryBack) {
  Write("file", std::string(4 * kMiB, 'x'));
  CancelToken cancelled;
  cancelled.Cancel(CancelReason::kDraining, 1);
  const absl::Status status = CopyFile(root_, "file", most_, *budget_, cancelled).status();
  EXPECT_EQ(linkw::FromAbsl(status), Status::kCancelled);
  EXPECT_NE(std::string(status.message()).find("draining"), std::string::npos) << status;
  EXPECT_EQ(StatusOf("file"), Status::kOk);
}

}  // namespace
}  // namespace superfluid
