#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "tests/tools/ctl/command_fixture.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"
#include "tests/tools/ctl/temp_file.h"

// transcribe --output, and the recordings that transcribe refuses before a worker sees them.
namespace superfluid::ctl {
namespace {

namespace fs = std::filesystem;
using linkw::DriverMessage;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void RefuseAll(FakeLink& link, uint64_t seq, const DriverMessage& message) {
  if (AsTranscribe(message) == nullptr) return;
  link.Send(linkw::StateSyncResult{.status = linkw::Status::kNotFound, .message = "no such file"},
            seq);
}

// In a folder of its own, in which nothing may be left behind.
class TranscribeOutputTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    folder_ = testing::TempDir() + "/transcribe_output";
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  std::string folder_;
};

TEST_F(TranscribeOutputTest, RefusesToWriteOverTheRecording) {
  const std::string recording = Write("talk.wav", "the recording");
  fs::create_symlink(recording, Path("soft"));
  fs::create_hard_link(recording, Path("hard"));
  for (const std::string& output : {recording, Path("soft"), Path("hard"), Path("./talk.wav")}) {
    for (const char* how : {"--srt", "--inline", "--live"}) {
      EXPECT_EQ(Run({"--connect", "/x", "transcribe", recording, how, "--output", output}),
                ExitCode::kUsage);
      EXPECT_THAT(err_.text, HasSubstr("is the recording itself"));
    }
  }
  EXPECT_EQ(Contents(recording), "the recording");
}

TEST_F(TranscribeOutputTest, ReplacesAFileAtTheEnd) {
  const std::string path = Write("talk.txt", "of yesterday");
  chmod(path.c_str(), 0640);
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) {
      EXPECT_EQ(Contents(path), "of yesterday");
    }
    TranscribeAll(link, seq, message);
  });
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--output", path}), ExitCode::kOk) << err_.text;
  EXPECT_THAT(Contents(path), StartsWith("[00:00:01.230"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_THAT(Files(), testing::ElementsAre("talk.txt"));
}

TEST_F(TranscribeOutputTest, WritesThroughASymbolicLink) {
  const std::string path = Write("talk.txt", "of yesterday");
  fs::create_symlink("talk.txt", Path("link"));
  FakeWorker worker(TranscribeAll);
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--output", Path("link")}), ExitCode::kOk);
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_THAT(Contents(path), StartsWith("[00:00:01.230"));
}

TEST_F(TranscribeOutputTest, WritesToADevice) {
  FakeWorker worker(TranscribeAll);
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--output", "/dev/null"}), ExitCode::kOk);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(TranscribeOutputTest, LeavesTheFileWhenItFails) {
  FakeWorker worker(RefuseAll);
  const std::string path = Write("talk.txt", "of yesterday");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--output", path}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("talk.txt: left as it was"));
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--json", "--output", path}), ExitCode::kFailed);
  EXPECT_EQ(Run({"--connect", "/nowhere/w", "transcribe", "a", "--output", path}),
            ExitCode::kNoLink);
  EXPECT_EQ(Contents(path), "of yesterday");
  EXPECT_THAT(Files(), testing::ElementsAre("talk.txt"));
}

TEST_F(TranscribeOutputTest, MakesNoFileOfNothing) {
  FakeWorker worker(RefuseAll);
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--vtt", "--output", Path("new")}),
            ExitCode::kFailed);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(TranscribeOutputTest, KeepsWhatCameBeforeACancelUnlessAFileIsThere) {
  FakeWorker worker(TranscribeUntilCancelled);
  const std::string path = Write("old.srt", "of yesterday");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--srt", "--output", path, "--cancel-after", "0"}),
            ExitCode::kCancelled);
  EXPECT_EQ(Contents(path), "of yesterday");
  EXPECT_EQ(RunWith(worker, {"transcribe", "a", "--srt", "--output", Path("new.srt"),
                             "--cancel-after", "0"}),
            ExitCode::kCancelled);
  EXPECT_THAT(Contents(Path("new.srt")), StartsWith("1\n00:00:01,230 --> "));
  EXPECT_THAT(err_.text, HasSubstr("new.srt: 1 segment (incomplete) from "));
  EXPECT_THAT(Files(), testing::UnorderedElementsAre("old.srt", "new.srt"));
}

// ---- Recordings

TEST_F(TranscribeOutputTest, SendsNoRecordingLiveThatIsNoWav) {
  const std::string path = Write("talk.ogg", "OggS and all that follows");
  for (const std::string& file : {path, Write("talk.txt", "some text of mine")}) {
    EXPECT_EQ(Run({"--connect", "/x", "transcribe", file, "--live"}), ExitCode::kFailed);
    EXPECT_THAT(err_.text, HasSubstr("; without --live the worker decodes it itself"));
  }
  EXPECT_EQ(Run({"--connect", "/x", "transcribe", Write("none", ""), "--live"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("none is empty"));
}

TEST_F(TranscribeOutputTest, WarnsThatARecordingIsNotRaw) {
  FakeWorker worker(TranscribeAll);
  const std::string wav = Write("talk.wav", MakeWav({.data_length = 8}, "samples!"));
  EXPECT_EQ(RunWith(worker, {"transcribe", wav, "--raw"}), ExitCode::kOk);
  EXPECT_THAT(err_.text, HasSubstr("talk.wav looks like a WAV file: --raw takes all of it"));
  EXPECT_EQ(RunWith(worker, {"transcribe", Write("raw", "samples of sound"), "--raw"}),
            ExitCode::kOk);
  EXPECT_EQ(err_.text, "");
}

TEST_F(TranscribeOutputTest, NamesTheFileAndNotTheBufferItWentIn) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) == nullptr) return;
    link.Send(linkw::StateSyncResult{.status = linkw::Status::kInvalidArgument,
                                     .message = "\"the buffer\": it is not audio"},
              seq);
  });
  const std::string path = Write("x.txt", "text");
  EXPECT_EQ(RunWith(worker, {"transcribe", path, "--inline"}), ExitCode::kFailed);
  EXPECT_THAT(err_.text, HasSubstr("x.txt: INVALID_ARGUMENT: it is not audio\n"));
}

}  // namespace
}  // namespace superfluid::ctl
