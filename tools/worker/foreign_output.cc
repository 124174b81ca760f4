#include "tools/worker/foreign_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr size_t kMostLineBytes = 4096;
constexpr int kUnendedLineMs = 100;

absl::Status Refused(const char* what, int error) {
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ForeignOutput>> ForeignOutput::Start(
    absl::Span<const int> descriptors, OnLine on_line) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return Refused("cannot make a pipe", errno);
  OwnedFd read_end(ends[0]);
  const OwnedFd write_end(ends[1]);
  std::unique_ptr<ForeignOutput> output;
  try {
    output.reset(new ForeignOutput(std::move(read_end), std::move(on_line)));
  } catch (const std::system_error& error) {
    return Refused("cannot start a thread", error.code().value());
  }
  for (const int fd : descriptors) {
    // A descriptor that exists can be replaced: the only errors are of numbers out of range.
    (void)dup2(write_end.get(), fd);
  }
  return output;
}

ForeignOutput::ForeignOutput(OwnedFd pipe, OnLine on_line)
    : pipe_(std::move(pipe)), on_line_(std::move(on_line)), thread_([this] { Run(); }) {}

ForeignOutput::~ForeignOutput() { thread_.join(); }

bool ForeignOutput::idle() const noexcept {
  int unread = 0;
  return ioctl(pipe_.get(), FIONREAD, &unread) == 0 && unread == 0 &&
         !busy_.load(std::memory_order_acquire);
}

void ForeignOutput::Run() {
  while (true) {
    pollfd input = {.fd = pipe_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&input, 1, line_.empty() ? -1 : kUnendedLineMs);
    if (ready > 0 && !ReadSome()) return;
    if (ready == 0) EndLine();
    busy_.store(!line_.empty(), std::memory_order_release);
  }
}

bool ForeignOutput::ReadSome() {
  std::array<char, 4096> bytes{};
  busy_.store(true, std::memory_order_release);
  const ssize_t size = read(pipe_.get(), bytes.data(), bytes.size());
  if (size < 0 && errno == EINTR) return true;
  if (size <= 0) {
    EndLine();
    return false;
  }
  for (const char c : std::string_view(bytes.data(), static_cast<size_t>(size))) {
    if (c != '\n') line_ += c;
    if (c == '\n' || line_.size() >= kMostLineBytes) EndLine();
  }
  return true;
}

void ForeignOutput::EndLine() {
  if (!line_.empty()) on_line_(std::exchange(line_, {}));
}

}  // namespace superfluid
