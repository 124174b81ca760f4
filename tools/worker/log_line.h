#ifndef SUPERFLUID_TOOLS_WORKER_LOG_LINE_H_
#define SUPERFLUID_TOOLS_WORKER_LOG_LINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/worker/json_line.h"

namespace superfluid {

enum class LogFormat { kLogfmt, kJson };

// What a worker is told about its log.
struct LogOptions {
  std::string level = "info";  // the least that is logged: "trace" to "error", "off"
  LogFormat format = LogFormat::kLogfmt;
  std::string name;  // every line ends with worker=NAME; empty: not
};

// How the lines of a process look.
struct LogStyle {
  LogFormat format = LogFormat::kLogfmt;
  std::string_view worker = {};  // in every line, as worker=NAME; empty: not
};

// Whether a command line, which may be wrong elsewhere, has --log-format json.
bool AsksForJsonLog(int argc, const char* const* argv);

// One line of the log, "time level event key=value ...", composed in a buffer of its own: no heap,
// no lock, no locale, so that a signal handler may. What does not fit is left out, with all that
// follows but the worker's name.
class LogLine {
 public:
  LogLine(std::string_view level, std::string_view event);

  LogLine& Number(std::string_view key, int64_t value);
  LogLine& Hex(std::string_view key, uint64_t value);
  // Adds a quoted value: quotes, backslashes and control characters are escaped as in JSON.
  LogLine& Text(std::string_view key, std::string_view value);

  // Returns the line so far with the worker's name and a newline, as JSON if `style` wants that;
  // valid as long as this object. REQUIRES: called once. A name is cut after kMostName bytes.
  std::string_view End(const LogStyle& style = {});

  static constexpr size_t kMostName = 128;

 private:
  static constexpr size_t kRoom = 2048;
  static constexpr size_t kNameRoom = kMostName + 8;  // " worker="

  // Adds all of `text`, or nothing.
  void Append(std::string_view text);
  void AppendKey(std::string_view key);
  void AppendTime();
  // Decimal, with zeros in front up to `width` digits.
  void AppendDigits(uint64_t value, int width);
  void AppendEscaped(char c);

  std::array<char, kRoom + kNameRoom> buffer_;
  std::array<char, MostJsonBytes(kRoom + kNameRoom)> json_;
  size_t size_ = 0;
  bool cut_ = false;  // something did not fit
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_LOG_LINE_H_
