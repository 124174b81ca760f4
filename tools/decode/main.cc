// superfluid_decode: decodes one recording with libav, for the process that started it. It reads
// the recording from a descriptor that it is sent, writes samples to a pipe, and can do nothing
// else (sandbox.h). How it is talked to: decode_message.h.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tools/decode/decode_message.h"
#include "tools/decode/decode_recording.h"
#include "tools/decode/sandbox.h"

namespace superfluid::decode {
namespace {

constexpr int kNoRequest = 2;  // exit status: not started by a client

void Report(const DecodeReport& report) {
  [[maybe_unused]] const ssize_t sent = write(kControlFd, &report, sizeof(report));
}

DecodeReport Failure(DecodeOutcome outcome, const std::string& text) {
  DecodeReport report = {.outcome = outcome};
  std::snprintf(report.text.data(), report.text.size(), "%s", text.c_str());
  return report;
}

// Called when an allocation of ours fails; those of libav say so themselves.
[[noreturn]] void EndWithoutMemory() {
  DecodeReport report = {.outcome = DecodeOutcome::kOutOfMemory};
  constexpr char kText[] = "it needs more memory than a recording may use";
  std::memcpy(report.text.data(), kText, sizeof(kText));
  Report(report);
  _exit(EXIT_FAILURE);
}

// Waits for the request; its descriptor becomes kInputFd. Nothing: the client has gone, or it is
// none.
std::optional<DecodeRequest> ReceiveRequest() {
  DecodeRequest request = {};
  iovec bytes = {.iov_base = &request, .iov_len = sizeof(request)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(kControlFd, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (got != sizeof(request) || header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    return std::nullopt;
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
  if (fd != kInputFd) {
    if (dup3(fd, kInputFd, O_CLOEXEC) < 0) return std::nullopt;
    close(fd);
  }
  return request;
}

int Run() {
  close_range(kInputFd, ~0U, 0);
  if (!DieWithClient(kLifelineFd).ok()) return kNoRequest;
  const std::optional<DecodeRequest> request = ReceiveRequest();
  if (!request.has_value()) return kNoRequest;
  if (const absl::Status status = Confine(request->limits); !status.ok()) {
    Report(Failure(DecodeOutcome::kInternal, std::string(status.message())));
    return EXIT_FAILURE;
  }
  const DecodeReport report = DecodeRecording(kInputFd, kPcmFd, request->limits);
  Report(report);
  return report.outcome == DecodeOutcome::kDone ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace superfluid::decode

int main() {
  std::set_new_handler(&superfluid::decode::EndWithoutMemory);
  // No destructors of libraries: they may want what is not allowed any more.
  _exit(superfluid::decode::Run());
}
