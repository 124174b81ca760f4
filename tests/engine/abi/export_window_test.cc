#include "engine/abi/export_window.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace superfluid {
namespace {

constexpr size_t kPage = 4096;

// Memory shared as a worker shares it with its daemon: a memfd, mapped.
class ExportWindowTest : public ::testing::Test {
 protected:
  static constexpr size_t kBytes = 16 * kPage;

  void SetUp() override {
    const int fd = memfd_create("export_window_test", MFD_CLOEXEC);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(ftruncate(fd, kBytes), 0);
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    ASSERT_NE(memory, MAP_FAILED);  // NOLINT(performance-no-int-to-ptr): in the macro
    memory_ = static_cast<std::byte*>(memory);
    std::memset(memory_, 0x11, kBytes);
  }
  void TearDown() override { munmap(memory_, kBytes); }

  absl::Span<std::byte> Target(size_t offset, size_t size) {
    return absl::MakeSpan(memory_ + offset, size);
  }
  // Whether memory has `value` in the target and is untouched around it.
  void ExpectOnlyTarget(size_t offset, size_t size, int value) {
    const auto is = [](int wanted) {
      return [wanted](std::byte byte) { return byte == static_cast<std::byte>(wanted); };
    };
    EXPECT_TRUE(std::all_of(memory_, memory_ + offset, is(0x11)));
    EXPECT_TRUE(std::all_of(memory_ + offset, memory_ + offset + size, is(value)));
    EXPECT_TRUE(std::all_of(memory_ + offset + size, memory_ + kBytes, is(0x11)));
  }

  std::byte* memory_ = nullptr;
};

TEST_F(ExportWindowTest, WhatIsWrittenArrivesWhereverTheTargetLies) {
  for (const size_t offset : {size_t{0}, size_t{160}, kPage - 1, kPage, kPage + 1}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, kPage - 1, kPage, kPage + 1,
                              2 * kPage, 3 * kPage + 7, 9 * kPage}) {
      std::memset(memory_, 0x11, kBytes);
      auto window = ExportWindow::Open(Target(offset, size));
      ASSERT_TRUE(window.ok()) << window.status();
      std::memset(window->data(), 0x22, size);
      EXPECT_TRUE(window->intact());
      window->Finish();
      ExpectOnlyTarget(offset, size, 0x22);
    }
  }
}

TEST_F(ExportWindowTest, WholePagesAreNotCopied) {
  auto window = ExportWindow::Open(Target(160, 5 * kPage));
  ASSERT_TRUE(window.ok());
  EXPECT_TRUE(window->shared());
  std::memset(window->data() + kPage, 0x22, 100);
  EXPECT_EQ(memory_[160 + kPage], std::byte{0x22});
}

// The target shares its first and last page with what is not its own.
TEST_F(ExportWindowTest, NothingOutsideOfTheTargetIsReached) {
  auto window = ExportWindow::Open(Target(160, 3 * kPage));
  ASSERT_TRUE(window.ok());
  std::memset(window->data() - 160, 0x22, 3 * kPage + 160 + 2000);
  EXPECT_FALSE(window->intact());
  window->Finish();
  ExpectOnlyTarget(160, 3 * kPage, 0x22);
}

TEST_F(ExportWindowTest, WritesJustOutsideAreFound) {
  for (const size_t size : {size_t{100}, kPage - 160, kPage, 3 * kPage - 160, 5 * kPage}) {
    for (const std::ptrdiff_t at :
         {std::ptrdiff_t{-1}, -std::ptrdiff_t{kPage}, static_cast<std::ptrdiff_t>(size),
          static_cast<std::ptrdiff_t>(size + kPage - 1)}) {
      auto window = ExportWindow::Open(Target(160, size));
      ASSERT_TRUE(window.ok());
      EXPECT_TRUE(window->intact());
      window->data()[at] = std::byte{1};
      EXPECT_FALSE(window->intact()) << size << " at " << at;
    }
  }
}

TEST_F(ExportWindowTest, PrivateMemoryIsCopied) {
  std::vector<std::byte> memory(5 * kPage, std::byte{0x11});
  auto window = ExportWindow::Open(absl::MakeSpan(memory).subspan(10, 4 * kPage));
  ASSERT_TRUE(window.ok());
  EXPECT_FALSE(window->shared());
  std::memset(window->data(), 0x22, 4 * kPage);
  EXPECT_TRUE(window->intact());
  EXPECT_EQ(memory[kPage * 2], std::byte{0x11});
  window->Finish();
  EXPECT_EQ(memory[9], std::byte{0x11});
  EXPECT_EQ(memory[10], std::byte{0x22});
  EXPECT_EQ(memory[10 + 4 * kPage - 1], std::byte{0x22});
  EXPECT_EQ(memory[10 + 4 * kPage], std::byte{0x11});
}

TEST_F(ExportWindowTest, NothingIsBroughtWithoutFinish) {
  {
    auto window = ExportWindow::Open(Target(160, 100));
    ASSERT_TRUE(window.ok());
    std::memset(window->data(), 0x22, 100);
  }
  ExpectOnlyTarget(160, 100, 0x11);
}

TEST_F(ExportWindowTest, AnEmptyTargetHasAWindowToo) {
  auto window = ExportWindow::Open({});
  ASSERT_TRUE(window.ok());
  EXPECT_NE(window->data(), nullptr);
  EXPECT_TRUE(window->intact());
  window->Finish();
}

TEST_F(ExportWindowTest, MovingKeepsTheView) {
  auto window = ExportWindow::Open(Target(160, 2 * kPage));
  ASSERT_TRUE(window.ok());
  ExportWindow moved = *std::move(window);
  std::memset(moved.data(), 0x22, 2 * kPage);
  moved.Finish();
  ExpectOnlyTarget(160, 2 * kPage, 0x22);
}

}  // namespace
}  // namespace superfluid
