#include "tools/worker/log_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>

namespace superfluid {
namespace {

constexpr size_t kMostBatchBytes = size_t{16} << 10;

// Blocks until `fd` took all of `text`, or failed.
void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {  // whoever gave it made it non-blocking
      pollfd room = {.fd = fd, .events = POLLOUT, .revents = 0};
      (void)poll(&room, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return;
    }
  }
}

}  // namespace

LogWriter::LogWriter(int fd, size_t max_bytes, const LogStyle& style)
    : format_(style.format),
      worker_(style.worker),
      queue_(max_bytes),
      thread_([this, fd] { Run(fd); }) {}

LogWriter::~LogWriter() {
  queue_.Close();
  thread_.join();
}

void LogWriter::Run(int fd) {
  while (const std::optional<LogQueue::Batch> batch = queue_.Take(kMostBatchBytes)) {
    if (batch->dropped > 0) {
      WriteAll(fd, LogLine("warn", "log.dropped")
                       .Number("lines", static_cast<int64_t>(batch->dropped))
                       .End({.format = format_, .worker = worker_}));
    }
    WriteAll(fd, batch->text);
    queue_.Written();
  }
}

}  // namespace superfluid
