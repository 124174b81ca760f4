#include "tools/decode/decode_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/decode/report_text.h"
#include "tools/decode/spawn.h"
#include "tools/decode/zombies.h"

namespace superfluid::decode {
namespace {

// Four seconds of samples: enough that neither side waits for each block of the other.
constexpr int kPipeBytes = 256 << 10;

absl::Status Errno(int error, std::string_view what) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN) {
    return absl::ResourceExhaustedError(
        absl::ErrnoToStatus(error, absl::string_view(what.data(), what.size())).message());
  }
  return absl::ErrnoToStatus(error, absl::string_view(what.data(), what.size()));
}

struct Pair {
  OwnedFd ours;
  OwnedFd theirs;
};

// A pipe whose reading end is ours.
absl::StatusOr<Pair> MakePcmPipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Errno(errno, "cannot make a pipe");
  // Fewer bytes, where the system allows no more, only mean more turns.
  (void)fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
  return Pair{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

// A pipe whose writing end is ours.
absl::StatusOr<Pair> MakeLifeline() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Errno(errno, "cannot make a pipe");
  return Pair{OwnedFd(ends[1]), OwnedFd(ends[0])};
}

absl::StatusOr<Pair> MakeControl() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Errno(errno, "cannot make a socket");
  }
  return Pair{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

}  // namespace

DecodeProcess::DecodeProcess(pid_t pid, OwnedFd control, OwnedFd pcm, OwnedFd lifeline)
    : pid_(pid),
      control_(std::move(control)),
      pcm_(std::move(pcm)),
      lifeline_(std::move(lifeline)) {}

absl::StatusOr<std::unique_ptr<DecodeProcess>> DecodeProcess::Start(const std::string& program) {
  BuryZombies();
  absl::StatusOr<Pair> control = MakeControl();
  if (!control.ok()) return control.status();
  absl::StatusOr<Pair> pcm = MakePcmPipe();
  if (!pcm.ok()) return pcm.status();
  absl::StatusOr<Pair> lifeline = MakeLifeline();
  if (!lifeline.ok()) return lifeline.status();
  const std::array fds = {SpawnFd{.fd = control->theirs.get(), .as = kControlFd},
                          SpawnFd{.fd = pcm->theirs.get(), .as = kPcmFd},
                          SpawnFd{.fd = lifeline->theirs.get(), .as = kLifelineFd}};
  const absl::StatusOr<pid_t> pid = Spawn(program, fds);
  if (!pid.ok()) return pid.status();
  return std::unique_ptr<DecodeProcess>(new DecodeProcess(
      *pid, std::move(control->ours), std::move(pcm->ours), std::move(lifeline->ours)));
}

// Does not wait for the process to be gone: it takes milliseconds to take its libraries down.
DecodeProcess::~DecodeProcess() {
  Kill();
  const std::lock_guard lock(mutex_);
  if (!reaped_) LeaveZombie(pid_);
}

absl::Status DecodeProcess::Begin(int input_fd, const DecodeLimits& limits) {
  limits_ = limits;
  DecodeRequest request = {.limits = limits};
  iovec bytes = {.iov_base = &request, .iov_len = sizeof(request)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &input_fd, sizeof(input_fd));
  if (sendmsg(control_.get(), &message, MSG_NOSIGNAL) == sizeof(request)) return absl::OkStatus();
  return absl::UnavailableError(
      absl::ErrnoToStatus(errno, "the decoder does not take a recording").message());
}

absl::StatusOr<DecodeSummary> DecodeProcess::Finish() {
  const absl::StatusOr<DecodeReport> report = ReceiveReport();
  int wait_status = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!reaped_) {
      while (waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
      }
      reaped_ = true;
    }
    if (killed_) return absl::CancelledError("the decoder was stopped");
  }
  if (report.ok()) return SummaryOf(*report);
  return StatusOfDeath(wait_status);
}

absl::StatusOr<DecodeReport> DecodeProcess::ReceiveReport() const {
  DecodeReport report;
  ssize_t got = 0;
  do {
    got = recv(control_.get(), &report, sizeof(report), 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof(report)) return absl::InternalError("no report");
  return report;
}

absl::Status DecodeProcess::StatusOfDeath(int wait_status) const {
  if (!WIFSIGNALED(wait_status)) {
    return absl::InternalError(
        absl::StrCat("the decoder could not start, or ended without a word "
                     "(exit status ",
                     WEXITSTATUS(wait_status), ")"));
  }
  const int signal = WTERMSIG(wait_status);
  if (signal == SIGXCPU) {
    return absl::ResourceExhaustedError(absl::StrCat("decoding it takes more than the ",
                                                     limits_.cpu_seconds,
                                                     " s of CPU time that are allowed"));
  }
  if (signal == SIGKILL) return absl::UnavailableError("its decoder was killed");
  return absl::InternalError(absl::StrCat("its decoder crashed (signal ", signal, ")"));
}

void DecodeProcess::Kill() {
  const std::lock_guard lock(mutex_);
  if (reaped_) return;
  killed_ = true;
  kill(pid_, SIGKILL);
}

}  // namespace superfluid::decode
