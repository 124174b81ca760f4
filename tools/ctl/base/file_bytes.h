#ifndef SUPERFLUID_TOOLS_CTL_BASE_FILE_BYTES_H_
#define SUPERFLUID_TOOLS_CTL_BASE_FILE_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "shm/segment.h"

namespace superfluid::ctl {

// Whether only this process can open what `file` names: a pipe or a device, or a descriptor of ours
// by its name (/dev/stdin, the /dev/fd/N of "<(...)"). Opens nothing.
bool IsOursAlone(const std::string& file);

// Opens `file` for reading; "-" and "/dev/stdin" are duplicates of `in_fd`, names of other
// descriptors are duplicates of those. Errors: Internal, naming the file.
absl::StatusOr<OwnedFd> OpenInput(const std::string& file, int in_fd);

// Whether `output` and `file` ("-": what `in_fd` reads) are one file, by whatever names and links:
// to write the one would destroy the other. Opens neither. Files only: a terminal may be both.
bool IsSameFile(const std::string& output, const std::string& file, int in_fd);

struct SharedBytes {
  Segment segment;
  uint64_t length = 0;  // of the bytes; the segment may be larger
};

inline constexpr uint64_t kMaxPipedBytes = uint64_t{2} << 30;

// `begin`, which was read from `fd` before, and all that can be read after it, in memory that can
// be passed on. A regular file is read straight into it. Errors: InvalidArgument (there is
// nothing), Internal (it cannot be read), ResourceExhausted (no memory for it; more than
// `max_piped` bytes of what is no regular file: it may have no end). The texts call it `name`.
absl::StatusOr<SharedBytes> ReadIntoSharedMemory(int fd, const std::string& name,
                                                 std::string_view begin = {},
                                                 uint64_t max_piped = kMaxPipedBytes);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_FILE_BYTES_H_
