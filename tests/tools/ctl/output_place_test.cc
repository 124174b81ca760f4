#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/ctl/child_process.h"
#include "tests/tools/ctl/fake_worker.h"
#include "tests/tools/ctl/scripts.h"

// Where the text of transcribe --output goes: into what is open, through links, into files that
// cannot be replaced; and that it is nowhere deleted.
namespace superfluid::ctl {
namespace {

namespace fs = std::filesystem;
using linkw::DriverMessage;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kFirstCue[] = "1\n00:00:01,230 --> 00:00:03,450\none two\n";

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Names of its own for what it mounts. False: this machine does not let us.
bool EnterOwnMounts() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

class OutputPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/output_place-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { fs::remove_all(folder_); }

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

  static std::vector<std::string> SubtitlesTo(const FakeWorker& worker, const std::string& output) {
    return {"--connect", worker.path(), "transcribe", "a", "--srt", "--output", output};
  }

  // Runs transcribe with standard output in `path`, opened with `flags`, behind "head\n".
  void RunBehindHead(const std::string& path, int flags, const std::string& output) const {
    FakeWorker worker(TranscribeAll);
    ChildProcess::Options options;
    options.prepare = [&path, flags] {
      const int fd = open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0600);
      return fd >= 0 && write(fd, "head\n", 5) == 5 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO;
    };
    ChildProcess ctl(SubtitlesTo(worker, output), options);
    EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  }

  std::string folder_;
};

// ---- What is open

TEST_F(OutputPlaceTest, StandardOutputByItsNameKeepsWhatWasWrittenBefore) {
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const std::string all = Path("all.txt");
    RunBehindHead(all, O_WRONLY | O_TRUNC, name);
    EXPECT_THAT(Contents(all), StartsWith(std::string("head\n") + kFirstCue)) << name;
    EXPECT_THAT(Files(), ElementsAre("all.txt"));
  }
}

TEST_F(OutputPlaceTest, AFileThatStandardOutputGoesIntoIsNotReplaced) {
  const std::string all = Path("all.txt");
  RunBehindHead(all, O_WRONLY | O_TRUNC, all);
  EXPECT_THAT(Contents(all), StartsWith(std::string("head\n") + kFirstCue));
}

TEST_F(OutputPlaceTest, AFileThatIsAppendedToKeepsItsBeginning) {
  const std::string all = Write("all.txt", "of yesterday\n");
  RunBehindHead(all, O_WRONLY | O_APPEND, "/dev/stdout");
  EXPECT_THAT(Contents(all), StartsWith(std::string("of yesterday\nhead\n") + kFirstCue));
}

TEST_F(OutputPlaceTest, ADashIsStandardOutput) {
  FakeWorker worker(TranscribeAll);
  ChildProcess ctl(SubtitlesTo(worker, "-"));
  EXPECT_THAT(ctl.ReadRestOfOutput(), StartsWith(kFirstCue));
  EXPECT_EQ(ctl.Wait(), 0);
}

TEST_F(OutputPlaceTest, ADescriptorForReadingIsRefusedBeforeTheWork) {
  FakeWorker worker(TranscribeAll);
  ChildProcess ctl(SubtitlesTo(worker, "/dev/stdin"));
  EXPECT_EQ(ctl.Wait(), 1);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("cannot write /dev/stdin: "));
  EXPECT_THAT(worker.messages(), IsEmpty());
}

// ---- Names

TEST_F(OutputPlaceTest, ALinkToNoFileYetMakesTheFileAndStaysALink) {
  FakeWorker worker(TranscribeAll);
  fs::create_directory(Path("there"));
  fs::create_symlink("there/new.srt", Path("link"));
  ChildProcess ctl(SubtitlesTo(worker, Path("link")));
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_THAT(Contents(Path("there/new.srt")), StartsWith(kFirstCue));
}

TEST_F(OutputPlaceTest, AFileWithTwoNamesKeepsBoth) {
  FakeWorker worker(TranscribeAll);
  const std::string path = Write("one.srt", std::string(5000, 'x'));
  fs::create_hard_link(path, Path("two.srt"));
  ChildProcess ctl(SubtitlesTo(worker, path));
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_TRUE(fs::equivalent(path, Path("two.srt")));
  EXPECT_THAT(Contents(Path("two.srt")), StartsWith(kFirstCue));
  EXPECT_THAT(Contents(path), Not(HasSubstr("x"))) << "the rest of the longer text is gone";
  EXPECT_THAT(Files(), testing::UnorderedElementsAre("one.srt", "two.srt"));
}

// ---- What cannot be replaced

// Where nobody may mount it is a file as any other, with the same outcome.
TEST_F(OutputPlaceTest, AFileThatIsMountedByItselfIsWrittenInPlace) {
  FakeWorker worker(TranscribeAll);
  const std::string path = Write("talk.srt", "of yesterday");
  ChildProcess::Options options;
  options.prepare = [&path] {
    const bool entered = EnterOwnMounts();
    if (entered) mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr);
    return true;
  };
  ChildProcess ctl(SubtitlesTo(worker, path), options);
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_THAT(Contents(path), StartsWith(kFirstCue));
  EXPECT_THAT(Files(), ElementsAre("talk.srt"));
}

TEST_F(OutputPlaceTest, AFileInAFolderThatTakesNoFilesIsWrittenInPlace) {
  FakeWorker worker(TranscribeAll);
  fs::create_directory(Path("closed"));
  const std::string path = Write("closed/talk.srt", "of yesterday");
  ChildProcess::Options options;
  options.prepare = [] {
    prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0);  // root may do what others may not
    return true;
  };
  ASSERT_EQ(chmod(Path("closed").c_str(), 0555), 0);
  ChildProcess ctl(SubtitlesTo(worker, path), options);
  EXPECT_EQ(ctl.Wait(), 0) << ctl.ReadErrors();
  EXPECT_THAT(Contents(path), StartsWith(kFirstCue));
  ASSERT_EQ(chmod(Path("closed").c_str(), 0755), 0);
}

// ---- The text is never deleted

TEST_F(OutputPlaceTest, ATextThatFindsItsPlaceTakenStaysBesideIt) {
  const std::string path = Path("talk.srt");
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) fs::create_directory(path);
    TranscribeAll(link, seq, message);
  });
  ChildProcess ctl(SubtitlesTo(worker, path));
  EXPECT_EQ(ctl.Wait(), 1);
  const std::string errors = ctl.ReadErrors();
  EXPECT_THAT(errors, HasSubstr("cannot write " + path + ": Is a directory; the text is in "));
  const size_t beside = errors.find(folder_ + "/.superfluidctl-");
  ASSERT_NE(beside, std::string::npos) << errors;
  EXPECT_THAT(Contents(errors.substr(beside, errors.find('\n', beside) - beside)),
              StartsWith(kFirstCue));
}

TEST_F(OutputPlaceTest, ATextWhoseFolderIsGoneIsPrinted) {
  fs::create_directory(Path("gone"));
  FakeWorker worker([&](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) != nullptr) fs::remove_all(Path("gone"));
    TranscribeAll(link, seq, message);
  });
  ChildProcess ctl(SubtitlesTo(worker, Path("gone/talk.srt")));
  EXPECT_THAT(ctl.ReadRestOfOutput(), StartsWith(kFirstCue));
  EXPECT_EQ(ctl.Wait(), 1);
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("the text is in standard output"));
}

TEST_F(OutputPlaceTest, ATextThatNoFileTakesIsPrinted) {
  FakeWorker worker([](FakeLink& link, uint64_t seq, const DriverMessage& message) {
    if (AsTranscribe(message) == nullptr) return;
    TranscriptionOutcome outcome = MakeOutcome();
    outcome.result.segments[1].text = std::string(20'000, 'z') + " end";
    link.Send(Answer(outcome), seq);
  });
  ChildProcess::Options options;
  options.prepare = [] {
    const rlimit few_bytes = {.rlim_cur = 8192, .rlim_max = 8192};
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    return sigaction(SIGXFSZ, &ignore, nullptr) == 0 && setrlimit(RLIMIT_FSIZE, &few_bytes) == 0;
  };
  ChildProcess ctl(SubtitlesTo(worker, Path("talk.srt")), options);
  const std::string printed = ctl.ReadRestOfOutput();
  EXPECT_EQ(ctl.Wait(), 1);
  EXPECT_THAT(printed, StartsWith(kFirstCue));
  EXPECT_THAT(printed, EndsWith("zzz end\n\n"));
  EXPECT_THAT(ctl.ReadErrors(), HasSubstr("File too large; the text is in standard output"));
  EXPECT_THAT(Files(), IsEmpty());
}

// ---- Signals

TEST_F(OutputPlaceTest, HangUpAndQuitKeepWhatCameAsCtrlCDoes) {
  for (const auto& [signal_number, code] :
       std::vector<std::pair<int, int>>{{SIGINT, 130}, {SIGHUP, 129}, {SIGQUIT, 131}}) {
    FakeWorker worker(TranscribeUntilCancelled);
    const std::string path = Path("talk.srt");
    ChildProcess ctl(SubtitlesTo(worker, path), {.terminal_as_stderr = true});
    ctl.AwaitError("34% [");
    ctl.Signal(signal_number);
    EXPECT_EQ(ctl.Wait(), code);
    EXPECT_EQ(Contents(path), std::string(kFirstCue) + "\n");
    EXPECT_THAT(Files(), ElementsAre("talk.srt"));
    fs::remove(path);
  }
}

TEST_F(OutputPlaceTest, ASecondSignalLeavesNoTemporaryFile) {
  for (const int second : {SIGINT, SIGHUP, SIGQUIT, SIGTERM}) {
    FakeWorker worker(TranscribeForEver);
    ChildProcess ctl(SubtitlesTo(worker, Path("talk.srt")), {.terminal_as_stderr = true});
    ctl.AwaitError("34% [");
    ctl.Signal(SIGINT);
    worker.WaitFor<linkw::TranscribeCancel>();
    ctl.Signal(second);
    EXPECT_EQ(ctl.Wait(), 128 + second);
    EXPECT_THAT(Files(), IsEmpty());
  }
}

TEST_F(OutputPlaceTest, ASignalBeforeTheWorkBeginsLeavesNoTemporaryFile) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    std::promise<void> asked;
    std::promise<void> over;
    FakeWorker worker;
    worker.on_connect = [&](FakeLink& link) {
      link.AwaitBytes();
      asked.set_value();
      over.get_future().wait();
      return true;
    };
    ChildProcess ctl(SubtitlesTo(worker, Path("talk.srt")));
    asked.get_future().wait();
    ctl.Signal(signal_number);
    EXPECT_EQ(ctl.Wait(), -signal_number);
    over.set_value();
    EXPECT_THAT(Files(), IsEmpty());
  }
}

TEST_F(OutputPlaceTest, AHangUpUnderNohupChangesNothing) {
  FakeWorker worker(TranscribeUntilCancelled);
  ChildProcess::Options options;
  options.prepare = [] {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    return sigaction(SIGHUP, &ignore, nullptr) == 0;
  };
  ChildProcess ctl({"--connect", worker.path(), "transcribe", "a"}, options);
  ctl.ReadLine();
  ctl.Signal(SIGHUP);
  ctl.Signal(SIGTERM);
  EXPECT_EQ(ctl.Wait(), 143);
}

}  // namespace
}  // namespace superfluid::ctl
