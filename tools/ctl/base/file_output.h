#ifndef SUPERFLUID_TOOLS_CTL_BASE_FILE_OUTPUT_H_
#define SUPERFLUID_TOOLS_CTL_BASE_FILE_OUTPUT_H_

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "tools/ctl/base/output.h"
#include "tools/ctl/base/temporary_file.h"

namespace superfluid::ctl {

// A file of the user's that is there as a whole or not at all. Three ways lead into it:
//
//   replace    a new file, or one with a single name: written to a file beside it, which takes its
//              name at the end
//   in place   one that cannot be replaced (mounted by itself, in a folder that takes no file, with
//              another owner or several names): the same, and copied into it at the end
//   at once    a pipe, a device, or a file that this process was started with open for writing
//              ("> all.txt --output all.txt", "--output /dev/stdout"): written as it comes, where
//              the descriptor stands
//
// What a Commit cannot put in place stays beside it, or can be taken with TakeText.
// Threads: one at a time.
class FileOutput : public Output {
 public:
  // Tries all that Commit will need, so that it fails before the work and not after. Follows
  // symbolic links, also those that lead to no file yet. Errors: Internal; the text names the file
  // and the reason.
  static absl::StatusOr<FileOutput> Create(const std::string& path);

  // Errors: Aborted, Internal. What was not written is kept for TakeText.
  absl::Status Write(std::string_view text) override;
  int fd() const override { return staged_.has_value() ? staged_->fd() : fd_.get(); }

  // Puts the file in its place. Without it the file is as it was. Errors: Internal; the text says
  // where the text is, if it is in a file.
  absl::Status Commit();

  // Returns all that was given to Write and is in no file; empty if it was written at once.
  std::string TakeText();

  // Whether there was a file of this name, which a Commit replaces.
  bool replaces() const { return replaces_; }

 private:
  explicit FileOutput(std::string path) : path_(std::move(path)) {}
  absl::Status WriteThrough(int open_fd);
  absl::Status OpenSpecial();
  absl::Status Stage(const struct stat* file);
  absl::Status StageBeside(const struct stat* file);
  absl::Status StageElsewhere();
  absl::Status CopyInPlace() const;
  absl::Status Cannot(const std::string& why) const;

  std::string path_;  // for error texts
  OwnedFd fd_;        // written at once
  std::optional<TemporaryFile> staged_;
  std::string target_;  // where the file goes: behind symbolic links
  bool in_place_ = false;
  bool replaces_ = false;
  std::string unwritten_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_FILE_OUTPUT_H_
