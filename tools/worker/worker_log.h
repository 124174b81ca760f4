#ifndef SUPERFLUID_TOOLS_WORKER_WORKER_LOG_H_
#define SUPERFLUID_TOOLS_WORKER_WORKER_LOG_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/worker/log_line.h"

namespace superfluid {

// The log of the process (decisions/0010): whoever logs puts a line into a bounded queue, and one
// thread writes it to standard error. Descriptors 1 and 2 become a pipe, of which each line is
// logged as `library.says`; the standard error that the process was given is kept aside.

// Makes the log spdlog's default logger. Errors: Internal (no thread or no pipe can be had).
// REQUIRES: called once, from main, while there is no other thread; the threads that it makes leave
// signals to others; the name is of letters, digits, '-', '_' and '.'.
absl::Status StartLog(const LogOptions& options);

// Logs a line with its newline that no level holds back, as it is.
void LogPlainly(std::string_view line);

// How lines look. A signal handler may ask.
LogStyle TheLogStyle() noexcept;

// Waits until standard error took what was logged, for `limit` at most.
void FlushLog(absl::Duration limit);

// Whether standard error took all that was logged or printed. A signal handler may ask.
bool LogIsIdle() noexcept;

// The standard error that the process was given. A signal handler may ask.
int LogDescriptor() noexcept;

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_WORKER_LOG_H_
