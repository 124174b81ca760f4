#ifndef SUPERFLUID_ENGINE_AUDIO_MEDIA_PATH_H_
#define SUPERFLUID_ENGINE_AUDIO_MEDIA_PATH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace superfluid {

// Opens, for reading, the regular file that a peer named, provided that it lies inside `root`.
//
// `root` is an absolute folder, or "/" for no restriction. `path` is absolute (and then must lie in
// `root`) or relative to `root`. Symbolic links are followed as long as every step stays inside;
// "..", too, may not lead out. Check and use are one: openat2 with RESOLVE_BENEATH, or, on kernels
// without it and for absolute links, a walk that holds each folder open; nothing can be swapped in
// between. (Without a /proc the file is opened by name twice, and refused if it was replaced
// meanwhile.) What is not a regular file is never opened (a FIFO is refused, not waited for).
//
// Returns a descriptor that the caller owns (close-on-exec, non-blocking).
// Errors, whose texts name the path as the peer gave it and nothing else of the machine:
// InvalidArgument for an empty path, a NUL byte, a path longer than the system allows, and for
// anything but a regular file (a folder, device, FIFO, socket); NotFound; PermissionDenied when it
// is outside `root` or may not be read; FailedPrecondition when `root` itself cannot be opened;
// ResourceExhausted when the process is out of descriptors.
// Threads: any.
absl::StatusOr<int> OpenUnderRoot(const std::string& root, std::string_view path);

// Returns a name by which a library can open the file of a descriptor once more, as long as that is
// open. Errors: FailedPrecondition (there is no /proc).
absl::StatusOr<std::string> NameOfDescriptor(int fd);

namespace media_path_internal {

// The fallback for kernels without openat2, by itself so that it can be tested.
absl::StatusOr<int> OpenUnderRootByWalking(const std::string& root, std::string_view path);

// As a worker does it that has no /proc.
absl::StatusOr<int> OpenUnderRootWithoutProc(const std::string& root, std::string_view path);
absl::StatusOr<int> OpenUnderRootByWalkingWithoutProc(const std::string& root,
                                                      std::string_view path);

}  // namespace media_path_internal
}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_MEDIA_PATH_H_
