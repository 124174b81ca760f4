#ifndef SUPERFLUID_TOOLS_CTL_STATE_FILE_STAMP_H_
#define SUPERFLUID_TOOLS_CTL_STATE_FILE_STAMP_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace superfluid::ctl {

// What tells that a file has changed. A value.
struct FileStamp {
  bool exists = false;
  bool regular = false;
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t bytes = 0;
  absl::Time modified;

  bool operator==(const FileStamp& other) const = default;
};

// Returns the stamp of what `path` names now.
FileStamp StampOf(const std::string& path);

// Returns what happened between two stamps of the regular file `name`, for people: "talk.wav grew
// from 1.0 MiB to 1.2 MiB meanwhile: what came late may be missing". Empty: nothing. Pure.
std::string ChangeText(const std::string& name, const FileStamp& before, const FileStamp& after);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_STATE_FILE_STAMP_H_
