// A descriptor that nobody reads, as whoever logs meets it.

#include "tools/worker/log_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

namespace superfluid {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;

// A pipe of 4 KiB, both ends of it.
class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_GT(fcntl(ends_[1], F_SETPIPE_SZ, 4096), 0);
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;  // as the worker has it
    sigaction(SIGPIPE, &ignored, &before_);
  }
  ~LogWriterTest() override {
    if (ends_[0] >= 0) close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
    sigaction(SIGPIPE, &before_, nullptr);
  }

  void CloseReader() { close(std::exchange(ends_[0], -1)); }
  void FillPipe() {
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::string page(4096, '.');
    while (write(ends_[1], page.data(), page.size()) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }
  // Reads until `last` has come.
  std::string ReadUntil(const std::string& last) {
    std::string text;
    std::array<char, 4096> bytes{};
    while (!text.ends_with(last)) {
      const ssize_t size = read(ends_[0], bytes.data(), bytes.size());
      if (size <= 0) break;
      text.append(bytes.data(), static_cast<size_t>(size));
    }
    return text;
  }

  std::array<int, 2> ends_{-1, -1};
  struct sigaction before_ {};
};

TEST_F(LogWriterTest, ALineIsWritten) {
  LogWriter writer(ends_[1], 1024);
  writer.Write("a line\n");
  EXPECT_TRUE(writer.Flush(absl::Minutes(1)));
  EXPECT_TRUE(writer.idle());
  EXPECT_EQ(ReadUntil("a line\n"), "a line\n");
}

TEST_F(LogWriterTest, AFullPipeHoldsNobodyUpWhoLogs) {
  FillPipe();
  LogWriter writer(ends_[1], 1024);
  for (int i = 0; i < 1000; ++i) writer.Write("a line that has nowhere to go\n");
  EXPECT_FALSE(writer.Flush(absl::Milliseconds(20)));
  EXPECT_FALSE(writer.idle());
  CloseReader();  // lets the writer go
}

TEST_F(LogWriterTest, TheReaderIsToldWhatIsMissingWhenItComesBack) {
  FillPipe();
  LogWriter writer(ends_[1], 1024);
  for (int i = 0; i < 1000; ++i) writer.Write("a line that has nowhere to go\n");
  writer.Write("the last\n");
  const std::string text = ReadUntil("the last\n");
  EXPECT_THAT(text, ContainsRegex("Z warn log\\.dropped lines=[0-9]+\na line that"));
  EXPECT_THAT(text, EndsWith("a line that has nowhere to go\nthe last\n"));
}

TEST_F(LogWriterTest, WhatIsMissingIsToldAsTheOtherLinesLook) {
  FillPipe();
  LogWriter writer(ends_[1], 1024, {.format = LogFormat::kJson, .worker = "gpu-0"});
  for (int i = 0; i < 1000; ++i) writer.Write("{}\n");
  writer.Write("the last\n");
  EXPECT_THAT(ReadUntil("the last\n"),
              ContainsRegex("\"level\":\"warn\",\"event\":\"log.dropped\",\"lines\":[0-9]+,"
                            "\"worker\":\"gpu-0\"}\n"));
}

TEST_F(LogWriterTest, AReaderThatIsGoneIsNoReasonToWait) {
  LogWriter writer(ends_[1], 1024);
  CloseReader();
  writer.Write("a line\n");
  EXPECT_TRUE(writer.Flush(absl::Minutes(1)));
}

TEST_F(LogWriterTest, ADescriptorThatDoesNotBlockGetsAllTheSame) {
  fcntl(ends_[1], F_SETFL, O_NONBLOCK);
  LogWriter writer(ends_[1], size_t{1} << 20);
  for (int i = 0; i < 1000; ++i) writer.Write("a line of the log\n");
  writer.Write("the last\n");
  EXPECT_EQ(ReadUntil("the last\n").size(), 18u * 1000u + 9u);
}

}  // namespace
}  // namespace superfluid
