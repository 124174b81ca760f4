#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <variant>

#include "shm/segment.h"
#include "tests/tools/ctl/child_process.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"
#include "tests/tools/ctl/temp_file.h"

// What transcribe does with a FILE that the worker cannot open, or that changes.
namespace superfluid::ctl {
namespace {

using linkw::DriverMessage;
using testing::HasSubstr;

// Keeps what it is sent in shared memory.
class HearingWorker {
 public:
  HearingWorker()
      : worker([this](FakeLink& link, uint64_t seq, const DriverMessage& message) {
          if (const auto* attach = std::get_if<linkw::BufAttach>(&message)) Take(*attach);
          if (const auto* request = AsTranscribe(message)) {
            const auto* buffer = std::get_if<linkw::AudioBuffer>(&request->audio);
            if (buffer != nullptr) heard.resize(buffer->length);
          }
          TranscribeAll(link, seq, message);
        }) {}

  std::string heard;

 private:
  void Take(const linkw::BufAttach& attach) {
    auto [tag, fd] = worker.ReceiveFd();
    const Segment segment = *Segment::Attach(std::move(fd), attach.len, SegmentAccess::kReadWrite);
    heard.assign(reinterpret_cast<const char*>(segment.data()), segment.size());
  }

 public:
  FakeWorker worker;  // last: its threads use the rest
};

class RouteTest : public testing::Test {
 protected:
  std::vector<std::string> Line(const std::vector<std::string>& arguments) const {
    std::vector<std::string> line = {"--connect", worker_.worker.path(), "transcribe"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return line;
  }

  // Runs it with `input` in a pipe as standard input.
  void RunWithInput(const std::vector<std::string>& arguments, const std::string& input) {
    ChildProcess ctl(Line(arguments));
    ctl.WriteInput(input);
    ctl.CloseInput();
    EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  }

  HearingWorker worker_;
};

TEST_F(RouteTest, OfAFifoTheBytesAreSent) {
  const std::string path = testing::TempDir() + "/recording.fifo";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ChildProcess ctl(Line({path}));
  std::thread writer([&path] { std::ofstream(path) << "OggS and all that follows"; });
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  writer.join();
  EXPECT_EQ(worker_.heard, "OggS and all that follows");
}

TEST_F(RouteTest, OfStandardInputByItsNameTheBytesAreSent) {
  RunWithInput({"/dev/stdin"}, "OggS and all that follows");
  EXPECT_EQ(worker_.heard, "OggS and all that follows");
}

TEST_F(RouteTest, OfAProcessSubstitutionTheBytesAreSent) {
  ChildProcess::Options options;
  options.prepare = [] {
    std::array<int, 2> fds = {-1, -1};
    return pipe(fds.data()) == 0 && write(fds[1], "fLaC and so on", 14) == 14 &&
           dup2(fds[0], 63) == 63 && close(fds[1]) == 0;
  };
  ChildProcess ctl(Line({"/dev/fd/63"}), options);
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_EQ(worker_.heard, "fLaC and so on");
}

TEST_F(RouteTest, ARecordingOnStandardInputIsSentWhole) {
  RunWithInput({"-"}, "fLaC and so on and on");
  EXPECT_EQ(worker_.heard, "fLaC and so on and on");
}

TEST_F(RouteTest, AWavThatCannotBeSentLiveIsSentWhole) {
  const std::string wav24 = MakeWav({.bits = 24, .data_length = 9}, "nine byte");
  RunWithInput({"-"}, wav24);
  EXPECT_EQ(worker_.heard, wav24);
}

TEST_F(RouteTest, AFileThatGrowsMeanwhileIsMentioned) {
  const std::string path = WriteTempFile("growing.wav", "some");
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) std::ofstream(path, std::ios::app) << " more";
    TranscribeAll(link, seq, message);
  });
  ChildProcess ctl({"--connect", worker.path(), "transcribe", path});
  EXPECT_EQ(ctl.Wait(), 0);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("growing.wav grew from 4 B to 9 B meanwhile"));
}

TEST_F(RouteTest, AFileThatIsRemovedMeanwhileIsMentioned) {
  const std::string path = WriteTempFile("going.wav", "some");
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) std::filesystem::remove(path);
    TranscribeAll(link, seq, message);
  });
  ChildProcess ctl({"--connect", worker.path(), "transcribe", path, "--inline"});
  EXPECT_EQ(ctl.Wait(), 0);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("going.wav was removed meanwhile"));
}

}  // namespace
}  // namespace superfluid::ctl
