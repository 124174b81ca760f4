#ifndef SUPERFLUID_TOOLS_WORKER_LOG_WRITER_H_
#define SUPERFLUID_TOOLS_WORKER_LOG_WRITER_H_

#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "tools/worker/log_line.h"
#include "tools/worker/log_queue.h"

namespace superfluid {

// Writes log lines to a descriptor on a thread of its own, which alone waits for a reader that does
// not read. When that reader comes back it is told how many lines are missing:
// `log.dropped lines=N`, where they would have stood.
//
// A descriptor that fails (a full disk, a reader that is gone) loses the lines that were to go
// there; later lines are tried again.
// Threads: any. Lifetime: `fd` is the caller's and outlives the writer.
class LogWriter {
 public:
  // Starts the thread. Lines that wait hold at most `max_bytes`. `style`: of its own line, about
  // those that are missing. Throws std::system_error if no thread can be had.
  LogWriter(int fd, size_t max_bytes, const LogStyle& style = {});
  // Writes what is there, however long that takes.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Adds a line that ends with a newline. Never waits for the descriptor.
  void Write(std::string line) { queue_.Push(std::move(line)); }

  // Waits until the descriptor took all lines, for `limit` at most; whether it did.
  bool Flush(absl::Duration limit) { return queue_.WaitUntilWritten(limit); }

  // Whether the descriptor took all lines. A signal handler may ask.
  bool idle() const noexcept { return queue_.idle(); }

 private:
  void Run(int fd);

  const LogFormat format_;
  const std::string worker_;
  LogQueue queue_;
  std::thread thread_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_LOG_WRITER_H_
