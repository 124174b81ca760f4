#include "tools/ctl/state/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/protocol/sealed_state.h"
#include "tests/tools/ctl/temp_file.h"

namespace superfluid::ctl {
namespace {

using linkw::AsBytes;
using linkw::PutAt;
using testing::HasSubstr;

std::string SealedFor(uint32_t space, uint64_t position, const std::string& payload) {
  linkw::StateEnvelope envelope;
  envelope.space_id = linkw::SpaceId{space};
  envelope.range = {0, position};
  return linkw::SealState(envelope, payload);
}

class SnapshotFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/snapshots-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/a.sfl";
    sealed_ = {SealedFor(0, 2, "first state"), SealedFor(3, 2, "second")};
    directory_.tokens_are_bytes = true;
    directory_.bundle_hash.fill(5);
    directory_.position = 2;
    directory_.tokens = {10, 11, 12};
    directory_.spaces = {{linkw::SpaceId{0}, sealed_[0].size()},
                         {linkw::SpaceId{3}, sealed_[1].size()}};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::Status Write(bool force = false) {
    const std::vector<absl::Span<const std::byte>> states = {AsBytes(sealed_[0]),
                                                             AsBytes(sealed_[1])};
    return WriteSnapshotFile(path_, force, directory_, states);
  }

  std::string Bytes() const {
    std::stringstream file;
    file << std::ifstream(path_, std::ios::binary).rdbuf();
    return file.str();
  }

  size_t FilesInFolder() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  // Why a file with these bytes is refused; empty: it is not.
  std::string Refusal(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    const absl::StatusOr<SnapshotFile> file = SnapshotFile::Open(path_);
    if (!file.ok()) return std::string(file.status().message());
    for (size_t i = 0; i < file->directory().spaces.size(); ++i) {
      const auto envelope = file->CheckState(i);
      if (!envelope.ok()) return std::string(envelope.status().message());
    }
    return "";
  }

  // With the directory's checksum made right again. 64 + 3 * 4 + 2 * 16 bytes come before it.
  std::string RefusalOfDirectory(size_t at, auto value) {
    EXPECT_TRUE(Write(/*force=*/true).ok());
    std::string bytes = Bytes();
    PutAt(bytes, at, value);
    PutAt(bytes, 108, linkw::StateHash(AsBytes(bytes).first(108)));
    return Refusal(bytes);
  }

  std::string folder_;
  std::string path_;
  SnapshotDirectory directory_;
  std::vector<std::string> sealed_;
};

TEST_F(SnapshotFileTest, ReadsWhatWasWritten) {
  ASSERT_TRUE(Write().ok());
  const auto file = SnapshotFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->directory(), directory_);
  for (size_t i = 0; i < sealed_.size(); ++i) {
    std::string sealed(sealed_[i].size(), '\0');
    EXPECT_TRUE(
        file->ReadState(i, {reinterpret_cast<std::byte*>(sealed.data()), sealed.size()}).ok());
    EXPECT_EQ(sealed, sealed_[i]);
    EXPECT_TRUE(file->CheckState(i).ok());
  }
  EXPECT_EQ(FilesInFolder(), 1u);
  struct stat info = {};
  EXPECT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U) << "it is somebody's conversation";
}

TEST_F(SnapshotFileTest, DoesNotReplaceAFileUnlessForced) {
  std::ofstream(path_) << "precious";
  EXPECT_TRUE(absl::IsAlreadyExists(Write()));
  EXPECT_EQ(Bytes(), "precious");
  EXPECT_TRUE(Write(/*force=*/true).ok());
  EXPECT_NE(Bytes(), "precious");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(SnapshotFileTest, ReplacesNothingButRegularFiles) {
  const auto refuses = [this](const std::string& says) {
    for (const bool force : {false, true}) {
      const absl::Status status = Write(force);
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_EQ(status.message(), path_ + says);
    }
    EXPECT_EQ(FilesInFolder(), 1u);
  };
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  refuses(" is not a regular file");
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("elsewhere", path_);
  refuses(" is not a regular file: it is a symbolic link");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(SnapshotFileTest, LeavesNothingBehindIfItFails) {
  sealed_[1].back() = '!';
  const absl::Status status = Write();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("payload is damaged"));
  EXPECT_EQ(FilesInFolder(), 0u);
}

TEST_F(SnapshotFileTest, NamesTheFileThatCannotBeWritten) {
  path_ = folder_ + "/no/such/folder";
  EXPECT_THAT(std::string(Write().message()), HasSubstr("cannot write " + path_));
}

TEST_F(SnapshotFileTest, IsRefusedHoweverItIsCut) {
  ASSERT_TRUE(Write().ok());
  const std::string bytes = Bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(Refusal(bytes.substr(0, length)), "") << length;
  }
  EXPECT_THAT(Refusal(bytes + "x"), HasSubstr("something follows its end"));
}

TEST_F(SnapshotFileTest, EveryByteOfItCounts) {
  ASSERT_TRUE(Write().ok());
  const std::string bytes = Bytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_THAT(Refusal(changed), HasSubstr("is no snapshot: ")) << at;
  }
}

TEST_F(SnapshotFileTest, BelievesNoNumberThoughTheChecksumIsRight) {
  const auto huge32 = std::numeric_limits<uint32_t>::max();
  const auto huge64 = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(RefusalOfDirectory(8, uint32_t{2}), HasSubstr("version 2"));
  EXPECT_THAT(RefusalOfDirectory(48, uint64_t{4}), HasSubstr("longer than its tokens"));
  EXPECT_THAT(RefusalOfDirectory(56, huge32), HasSubstr("it is cut"));
  EXPECT_THAT(RefusalOfDirectory(60, huge32), HasSubstr("too many state spaces"));
  EXPECT_THAT(RefusalOfDirectory(60, uint32_t{64}), HasSubstr("it is cut"));
  EXPECT_THAT(RefusalOfDirectory(84, huge64), HasSubstr("it is cut"));
  EXPECT_THAT(RefusalOfDirectory(84, huge64 - 100), HasSubstr("it is cut"));
  EXPECT_THAT(RefusalOfDirectory(76, uint32_t{9}), HasSubstr("sealed for something else"));
  EXPECT_THAT(RefusalOfDirectory(48, uint64_t{1}), HasSubstr("sealed for something else"));
}

TEST_F(SnapshotFileTest, IsAFile) {
  EXPECT_THAT(std::string(SnapshotFile::Open(folder_).status().message()),
              HasSubstr("is not a file"));
  EXPECT_THAT(std::string(SnapshotFile::Open(folder_ + "/none").status().message()),
              HasSubstr("cannot read"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(std::string(SnapshotFile::Open(path_).status().message()),
              HasSubstr("is not a file"));
}

}  // namespace
}  // namespace superfluid::ctl
