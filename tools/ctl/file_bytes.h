#ifndef SUPERFLUID_TOOLS_CTL_FILE_BYTES_H_
#define SUPERFLUID_TOOLS_CTL_FILE_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "shm/segment.h"

namespace superfluid::ctl {

// Opens `file` for reading; "-" is a duplicate of `in_fd`. Errors: Internal, naming the file.
absl::StatusOr<OwnedFd> OpenInput(const std::string& file, int in_fd);

// Whether `output` and `file` ("-": what `in_fd` reads) are one file, by whatever names and links:
// to write the one would destroy the other. Opens neither. Files only: a terminal may be both.
bool IsSameFile(const std::string& output, const std::string& file, int in_fd);

struct SharedBytes {
  Segment segment;
  uint64_t length = 0;  // of the bytes; the segment may be larger
};

// All that can be read from `fd`, in memory that can be passed on. A regular file is read straight
// into it. Errors: InvalidArgument (there is nothing), Internal (it cannot be read),
// ResourceExhausted (no memory for it). The texts call it `name`.
absl::StatusOr<SharedBytes> ReadIntoSharedMemory(int fd, const std::string& name);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FILE_BYTES_H_
