#ifndef SUPERFLUID_TOOLS_CTL_BASE_TEMPORARY_FILE_H_
#define SUPERFLUID_TOOLS_CTL_BASE_TEMPORARY_FILE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "shm/owned_fd.h"

namespace superfluid::ctl {

// A new file with a name that nobody else has, open for reading and writing, mode 0600. Removed by
// the destructor unless it was kept. Movable; a moved-from one is empty.
//
// The first one in a process catches SIGINT, SIGTERM, SIGHUP and SIGQUIT where they would end the
// process: they still do, and the files are removed before.
//
// Threads: one at a time; RemoveTemporaryFiles on any.
class TemporaryFile {
 public:
  // Creates BEGIN, six random characters and END. Errors: Internal; the text is the system's.
  static absl::StatusOr<TemporaryFile> Create(const std::string& begin, const std::string& end);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  // Whether the file still has a name: its folder may have gone, with all that was in it.
  bool HasName() const;

  // Leaves the file where it is, or where it was moved to.
  void Keep();

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  OwnedFd fd_;
  int slot_ = -1;  // in the list of files to remove; -1: not in it
};

// Removes the files that there are. Async-signal-safe: for a process that ends on the spot.
void RemoveTemporaryFiles();

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_TEMPORARY_FILE_H_
