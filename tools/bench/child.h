#ifndef SUPERFLUID_TOOLS_BENCH_CHILD_H_
#define SUPERFLUID_TOOLS_BENCH_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace superfluid::bench {

// A folder for sockets, gone with this object with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A program in a process of its own. It ends with this object, and with this process, however that
// ends.
class Child {
 public:
  // Starts `arguments[0]`, an absolute path. What it says goes to `log`. Internal if it cannot be
  // started.
  static absl::StatusOr<Child> Start(std::vector<std::string> arguments, const std::string& log);

  Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  Child& operator=(Child&& other) = delete;
  ~Child();

  pid_t pid() const { return pid_; }

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
};

// The path of this program.
std::string OwnProgram();

// The path of another program or library that this one was built with, named from the root of the
// tree. NotFound.
absl::StatusOr<std::string> BuiltFile(const std::string& name);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_CHILD_H_
