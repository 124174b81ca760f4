#ifndef SUPERFLUID_TOOLS_WORKER_LOG_LINE_H_
#define SUPERFLUID_TOOLS_WORKER_LOG_LINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace superfluid {

// One line of the log, "time level event key=value ...", composed in a buffer of its own: no heap,
// no lock, no locale, so that a signal handler may. What does not fit is left out, with all that
// follows.
class LogLine {
 public:
  LogLine(std::string_view level, std::string_view event);

  LogLine& Number(std::string_view key, int64_t value);
  LogLine& Hex(std::string_view key, uint64_t value);
  // Adds a quoted value: quotes, backslashes and control characters are escaped as in JSON.
  LogLine& Text(std::string_view key, std::string_view value);

  // Returns the line so far with its newline; valid as long as this object.
  std::string_view End();

 private:
  static constexpr size_t kRoom = 2048;

  // Adds all of `text`, or nothing.
  void Append(std::string_view text);
  void AppendKey(std::string_view key);
  void AppendTime();
  // Decimal, with zeros in front up to `width` digits.
  void AppendDigits(uint64_t value, int width);
  void AppendEscaped(char c);

  std::array<char, kRoom> buffer_;
  size_t size_ = 0;
  bool cut_ = false;  // something did not fit
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_LOG_LINE_H_
