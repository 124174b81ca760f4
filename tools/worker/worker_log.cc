#include "tools/worker/worker_log.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "actors/runtime/printable.h"
#include "engine/monotonic_time.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/base_sink.h"
#include "spdlog/spdlog.h"
#include "tools/worker/foreign_output.h"
#include "tools/worker/log_writer.h"

// Of a sanitizer's runtime, where there is one: it prints, and ends the process at once.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the runtime's
extern "C" void __sanitizer_set_report_fd(void* fd) __attribute__((weak));

namespace superfluid {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // of lines that nobody reads

// What the process logs with. Never destroyed: its threads may log, or wait for a reader, until the
// process ends.
struct Log {
  Log(int descriptor, const LogOptions& options)
      : fd(descriptor),
        name(options.name),
        style{.format = options.format, .worker = name},
        writer(descriptor, kMostBytes, style) {}

  const int fd;
  const std::string name;
  const LogStyle style;
  LogWriter writer;
  std::unique_ptr<ForeignOutput> foreign;
};

std::atomic<Log*>& TheLog() {
  static std::atomic<Log*> log{nullptr};
  return log;
}

class QueueSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  QueueSink(LogWriter& writer, LogFormat format) : writer_(writer), format_(format) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const std::string_view text(line.data(), line.size());
    writer_.Write(format_ == LogFormat::kJson ? ToJsonLine(text) : std::string(text));
  }
  void flush_() override {}

 private:
  LogWriter& writer_;
  const LogFormat format_;
};

// The level as --log-level calls it.
class LevelName : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error"};
    const auto level = static_cast<size_t>(message.level);
    const std::string_view name = level < std::size(kNames) ? kNames[level] : "error";
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

void UseForLogging(Log& log, const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>(
      "worker", std::make_shared<QueueSink>(log.writer, log.style.format));
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<LevelName>('*').set_pattern(
      absl::StrCat("%Y-%m-%dT%H:%M:%S.%fZ %* %v", log.name.empty() ? "" : " worker=", log.name));
  logger->set_formatter(std::move(formatter));
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(logger);
}

// While one exists, new threads take none of the signals that the process waits for elsewhere, and
// a write whose reader is gone is an error.
class LeaveSignalsToOthers {
 public:
  LeaveSignalsToOthers() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~LeaveSignalsToOthers() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  LeaveSignalsToOthers(const LeaveSignalsToOthers&) = delete;
  LeaveSignalsToOthers& operator=(const LeaveSignalsToOthers&) = delete;

 private:
  sigset_t before_{};
};

absl::Status TakeOverStandardOutput(Log& log) {
  constexpr std::array descriptors = {STDOUT_FILENO, STDERR_FILENO};
  absl::StatusOr<std::unique_ptr<ForeignOutput>> foreign =
      ForeignOutput::Start(descriptors, [logger = spdlog::default_logger()](std::string_view line) {
        logger->warn("library.says text=\"{}\"", Printable(line));
      });
  if (!foreign.ok()) return foreign.status();
  log.foreign = *std::move(foreign);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status StartLog(const LogOptions& options) {
  const LeaveSignalsToOthers guard;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd == -1) {
    return absl::InternalError(absl::StrCat("cannot keep standard error: ", std::strerror(errno)));
  }
  try {
    auto log = std::make_unique<Log>(fd, options);
    UseForLogging(*log, options.level);
    TheLog().store(log.release(), std::memory_order_release);
  } catch (const std::system_error& error) {
    return absl::InternalError(absl::StrCat("cannot start a thread: ", error.code().message()));
  }
  if (__sanitizer_set_report_fd != nullptr) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): how its interface wants it
    __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  }
  return TakeOverStandardOutput(*TheLog().load());
}

void LogPlainly(std::string_view line) {
  Log* const log = TheLog().load(std::memory_order_acquire);
  if (log != nullptr) log->writer.Write(std::string(line));
}

LogStyle TheLogStyle() noexcept {
  const Log* const log = TheLog().load(std::memory_order_acquire);
  return log == nullptr ? LogStyle{} : log->style;
}

void FlushLog(absl::Duration limit) {
  Log* const log = TheLog().load(std::memory_order_acquire);
  if (log == nullptr) return;
  const absl::Time give_up = MonotonicTime() + limit;
  while (log->foreign != nullptr && !log->foreign->idle() && MonotonicTime() < give_up) {
    (void)poll(nullptr, 0, 1);
  }
  (void)log->writer.Flush(std::max(give_up - MonotonicTime(), absl::ZeroDuration()));
}

bool LogIsIdle() noexcept {
  const Log* const log = TheLog().load(std::memory_order_acquire);
  if (log == nullptr) return true;
  return (log->foreign == nullptr || log->foreign->idle()) && log->writer.idle();
}

int LogDescriptor() noexcept {
  const Log* const log = TheLog().load(std::memory_order_acquire);
  return log == nullptr ? STDERR_FILENO : log->fd;
}

}  // namespace superfluid
