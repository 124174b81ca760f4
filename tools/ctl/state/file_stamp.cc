#include "tools/ctl/state/file_stamp.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "tools/ctl/formats/unit_text.h"

namespace superfluid::ctl {

FileStamp StampOf(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) return {};
  return {.exists = true,
          .regular = S_ISREG(file.st_mode),
          .device = file.st_dev,
          .inode = file.st_ino,
          .bytes = static_cast<uint64_t>(file.st_size),
          .modified = absl::TimeFromTimespec(file.st_mtim)};
}

std::string ChangeText(const std::string& name, const FileStamp& before, const FileStamp& after) {
  if (before == after) return "";
  if (!after.exists) return absl::StrCat(name, " was removed meanwhile");
  if (before.inode != after.inode || before.device != after.device) {
    return absl::StrCat(name, " was replaced by another file meanwhile");
  }
  const std::string sizes =
      absl::StrCat(" from ", BytesText(before.bytes), " to ", BytesText(after.bytes), " meanwhile");
  if (after.bytes > before.bytes) {
    return absl::StrCat(name, " grew", sizes, ": what came late may be missing");
  }
  if (after.bytes < before.bytes) {
    return absl::StrCat(name, " shrank", sizes, ": the text may be of neither");
  }
  return absl::StrCat(name, " was changed meanwhile: the text may be of neither");
}

}  // namespace superfluid::ctl
