#include "tests/integration/worker_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace superfluid {
namespace {

// Bazel runs a test in its runfiles, where the binary is under its own name.
constexpr char kWorker[] = "tools/worker/superfluid_worker";

std::string MakeFolder() {
  std::string pattern = "/tmp/sfw-XXXXXX";  // short: a socket's path has 107 bytes
  return mkdtemp(pattern.data());
}

void AddStdio(const WorkerStdio& stdio, const std::string& log,
              posix_spawn_file_actions_t& actions) {
  if (stdio.closed) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
      posix_spawn_file_actions_addclose(&actions, fd);
    }
  } else if (stdio.error_fd >= 0) {
    posix_spawn_file_actions_adddup2(&actions, stdio.error_fd, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_CREAT | O_WRONLY | O_APPEND, 0600);
  }
}

}  // namespace

WorkerProcess::WorkerProcess(std::vector<std::string> arguments, WorkerStdio stdio)
    : folder_(MakeFolder()), socket_(folder_ + "/w.sock"), log_(folder_ + "/log") {
  const bool elsewhere = std::count(arguments.begin(), arguments.end(), "--listen") > 0;
  if (!elsewhere) arguments.insert(arguments.begin(), {"--listen", socket_});
  arguments.insert(arguments.begin(), kWorker);
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  AddStdio(stdio, log_, actions);
  const int failed = posix_spawn(&pid_, kWorker, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) ADD_FAILURE() << "cannot start " << kWorker;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (testing::Test::HasFailure()) std::fprintf(stderr, "worker's log:\n%s\n", Log().c_str());
  std::filesystem::remove_all(folder_);
}

std::unique_ptr<linkw::LinkClient> WorkerProcess::Connect(linkw::Role role) {
  linkw::LinkClientOptions options;
  options.role = role;
  options.client_name = "integration-test";
  options.connect_timeout = absl::Seconds(60);
  options.wait_for_listener = true;
  absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
      linkw::LinkClient::Connect(socket_, options);
  EXPECT_TRUE(client.ok()) << client.status() << "\n" << Log();
  return client.ok() ? *std::move(client) : nullptr;
}

void WorkerProcess::Signal(int signal) { kill(pid_, signal); }

int WorkerProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool WorkerProcess::running() { return pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0; }

std::string WorkerProcess::Log() const {
  std::ostringstream text;
  text << std::ifstream(log_).rdbuf();
  return text.str();
}

}  // namespace superfluid
