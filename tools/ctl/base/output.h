#ifndef SUPERFLUID_TOOLS_CTL_BASE_OUTPUT_H_
#define SUPERFLUID_TOOLS_CTL_BASE_OUTPUT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace superfluid::ctl {

// Where text goes. Threads: one at a time.
class Output {
 public:
  virtual ~Output() = default;

  // Writes all of `text` at once: nothing stays in a buffer. Errors: Aborted (whoever read it is
  // gone; the text says nothing worth printing), Internal (any other; the text says which).
  virtual absl::Status Write(std::string_view text) = 0;

  // The descriptor behind it, to watch for its reader's end; -1 if there is none.
  virtual int fd() const { return -1; }
};

// A descriptor, which stays the caller's. SIGPIPE must be ignored.
class FdOutput : public Output {
 public:
  explicit FdOutput(int fd) : fd_(fd) {}
  absl::Status Write(std::string_view text) override;
  int fd() const override { return fd_; }

 private:
  int fd_;
};

// Whether text on `fd` can be drawn over: a terminal, and no dumb one.
bool CanRedraw(int fd);

// Writes all of `text` to `fd`, which may be non-blocking. Errors: Aborted (whoever read `fd` is
// gone), Internal; the texts call it `name`. `text` is then what was not written.
absl::Status WriteAll(int fd, std::string_view* text, const std::string& name);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_OUTPUT_H_
