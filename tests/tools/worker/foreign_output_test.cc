#include "tools/worker/foreign_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// A descriptor of the test's own in place of standard error.
class ForeignOutputTest : public testing::Test {
 protected:
  ForeignOutputTest() : fd_(open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    const std::array descriptors = {fd_};
    output_ = *ForeignOutput::Start(descriptors, [this](std::string_view line) {
      const std::lock_guard<std::mutex> lock(mutex_);
      lines_.emplace_back(line);
      changed_.notify_all();
    });
  }
  ~ForeignOutputTest() override { CloseAndWait(); }

  void Print(const std::string& text) {
    ASSERT_EQ(write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void CloseAndWait() {
    if (output_ == nullptr) return;
    close(fd_);
    output_.reset();
  }
  void WaitForLines(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this, count] { return lines_.size() >= count; });
  }

  int fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  std::unique_ptr<ForeignOutput> output_;
};

TEST_F(ForeignOutputTest, EachLineIsHandedOn) {
  Print("one\ntw");
  Print("o\n\nthree");
  CloseAndWait();
  EXPECT_THAT(lines_, ElementsAre("one", "two", "three"));
}

TEST_F(ForeignOutputTest, ALineThatIsNotEndedIsTakenAfterAMoment) {
  Print("a prompt: ");
  WaitForLines(1);
  EXPECT_THAT(lines_, ElementsAre("a prompt: "));
}

TEST_F(ForeignOutputTest, ALineWithoutEndIsCut) {
  Print(std::string(10'000, 'x'));
  CloseAndWait();
  EXPECT_THAT(lines_, SizeIs(3));
}

TEST_F(ForeignOutputTest, ItIsIdleWhenAllIsHandedOn) {
  EXPECT_TRUE(output_->idle());
  {
    const std::lock_guard<std::mutex> lock(mutex_);  // holds the line up where it is handed on
    Print("a line\n");
    EXPECT_FALSE(output_->idle());
  }
  while (!output_->idle()) std::this_thread::yield();
  EXPECT_THAT(lines_, ElementsAre("a line"));
}

}  // namespace
}  // namespace superfluid
