#include "tests/integration/escaping_engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

// Returns whether a child could be made; it ends at once.
bool Fork() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) return false;
  waitpid(child, nullptr, 0);
  return true;
}

// Would replace the process if the file were a program: EACCES says that the kernel was asked.
bool Execute(const std::string& path) {
  char* const arguments[] = {nullptr};
  return execve(path.c_str(), arguments, arguments) == 0;
}

bool MakesSocket(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  close(fd);
  return true;
}

bool Opens(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  close(fd);
  return true;
}

bool MapsExecutable() {
  void* const code =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return false;
  munmap(code, 4096);
  return true;
}

bool RaisesLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  return setrlimit(RLIMIT_CORE, &limit) == 0;
}

bool StartsThread() {
  std::thread([] {}).join();
  return true;
}

struct Attempt {
  std::string name;
  std::function<bool()> call;
};

std::vector<Attempt> Attempts(const std::string& folder) {
  const std::string made = folder + "/made";
  const std::string there = folder + "/there";
  return {
      {"execve", [there] { return Execute(there); }},
      {"fork", Fork},
      {"socket_inet", [] { return MakesSocket(AF_INET); }},
      {"socket_unix", [] { return MakesSocket(AF_UNIX); }},
      // Of no process: ESRCH says that the kernel was asked.
      {"ptrace", [] { return ptrace(PTRACE_ATTACH, 0, nullptr, nullptr) == 0; }},
      {"kill", [] { return kill(getppid(), 0) == 0; }},
      {"open_to_make", [made] { return Opens(made, O_WRONLY | O_CREAT); }},
      {"open_to_write", [there] { return Opens(there, O_WRONLY); }},
      {"open_to_read", [there] { return Opens(there, O_RDONLY); }},
      {"rename", [there, made] { return rename(there.c_str(), made.c_str()) == 0; }},
      {"unlink", [there] { return unlink((there + "/none").c_str()) == 0; }},
      {"executable_memory", MapsExecutable},
      {"setrlimit", RaisesLimit},
      {"thread", StartsThread},
  };
}

class EscapingJob : public TranscriptionJob {
 public:
  explicit EscapingJob(std::string folder) : folder_(std::move(folder)) {}

  absl::StatusOr<StepOutcome> Step(const StepBudget& /*budget*/, const CancelToken& /*token*/,
                                   SegmentSink& sink) override {
    int64_t at_ms = 0;
    for (const Attempt& attempt : Attempts(folder_)) {
      errno = 0;
      const bool done = attempt.call();
      TranscribedSegment segment;
      segment.start_ms = at_ms++;
      segment.end_ms = at_ms;
      segment.text = absl::StrCat(attempt.name, " ", done ? "ok" : strerrorname_np(errno));
      sink.OnSegment(segment);
    }
    return StepOutcome::kDone;
  }
  TranscriptionProgress Progress() const override {
    return {.language = "zxx", .audio_ms = 0, .audio_total_ms = 0};
  }

 private:
  const std::string folder_;
};

class EscapingEngine : public Engine {
 public:
  explicit EscapingEngine(std::string folder) : folder_(std::move(folder)) {
    info_.name = "escaping";
    info_.max_transcriptions = 1;
  }
  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override { return R"({"calls": ["transcribe"]})"; }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) override {
    return std::make_unique<EscapingJob>(folder_);
  }

 private:
  const std::string folder_;
  EngineInfo info_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeEscapingEngine(const EngineConfig& config) {
  std::string folder;
  for (const auto& [key, value] : config.options) {
    if (key == "folder") folder = value;
  }
  return std::make_unique<EscapingEngine>(folder);
}

}  // namespace superfluid
