#include "tests/conformance/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/conformance/check.h"
#include "tests/conformance/connect.h"

namespace superfluid::conformance {
namespace {

constexpr std::chrono::seconds kStartPatience{60};

}  // namespace

std::vector<std::string> SplitCommand(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (const char c : command) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, ""));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

Process::Process(const std::vector<std::string>& arguments, const std::string& log,
                 const std::vector<std::pair<int, int>>& inherited) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  argv.reserve(copies.size());
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  for (const auto& [ours, number] : inherited) {
    posix_spawn_file_actions_adddup2(&actions, ours, number);
  }
  const int failed = posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    pid_ = -1;
    Fail(absl::StrCat("cannot start ", absl::StrJoin(arguments, " ")));
  }
}

Process::~Process() {
  if (!Running()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Process::Running() {
  if (pid_ <= 0 || ended_) return false;
  ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

std::string Process::End() const {
  if (WIFSIGNALED(status_)) return absl::StrCat("signal ", WTERMSIG(status_));
  return absl::StrCat("exit code ", WEXITSTATUS(status_));
}

Worker::Worker(std::vector<std::string> command, const std::string& socket)
    : command_(std::move(command)), socket_(socket), log_(socket + ".log") {}

Worker::~Worker() = default;

bool Worker::Listens() const { return ConnectUnix(socket_).valid(); }

void Worker::EnsureRunning() {
  if (!ours() || (process_ != nullptr && process_->Running())) return;
  std::vector<std::string> arguments = command_;
  arguments.insert(arguments.end(), {"--listen", socket_});
  process_ = std::make_unique<Process>(arguments, log_);
  const auto until = std::chrono::steady_clock::now() + kStartPatience;
  while (!Listens()) {
    if (!process_->Running()) {
      Fail(absl::StrCat("the worker ended at its start: ", process_->End(), "; see ", log_));
    }
    if (std::chrono::steady_clock::now() > until) Fail("the worker does not listen");
    poll(nullptr, 0, 5);
  }
}

std::string Worker::Died() {
  if (!ours()) return Listens() ? "" : absl::StrCat("nothing listens on ", socket_);
  if (process_ == nullptr || process_->Running()) return "";
  std::string end = process_->End();
  process_.reset();
  return end;
}

}  // namespace superfluid::conformance
