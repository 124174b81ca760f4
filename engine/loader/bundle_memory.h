#ifndef SUPERFLUID_ENGINE_LOADER_BUNDLE_MEMORY_H_
#define SUPERFLUID_ENGINE_LOADER_BUNDLE_MEMORY_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/loader/bundle_hash.h"

namespace superfluid {

// Files together smaller than this are hashed each time: that takes a moment.
inline constexpr uint64_t kRememberedBytes = uint64_t{64} << 20U;

struct BundleMemory {
  std::string folder;                       // absolute; made if it is missing. Empty: none
  uint64_t least_bytes = kRememberedBytes;  // of the files together
  int64_t now_s = 0;                        // a date in seconds; 0: today, as files are dated
};

// EngineBundleHash, remembered in a folder.
//
// A hash is looked up by the names, devices, inodes, sizes and times of the last change (mtime and
// ctime, which nobody can set back) of all files, and the options: reading them again would give
// the same, unless somebody writes to the disk below the file system. It is not kept of files that
// were changed less than a few seconds before they were read, whose times may not tell two changes
// apart, nor of what changed meanwhile, and not believed in a folder that another user may write
// to. That it cannot be kept is no error.
//
// Errors and threads: those of EngineBundleHash.
absl::StatusOr<std::array<uint8_t, 32>> RememberedBundleHash(const BundleMemory& memory,
                                                             const std::string& library_path,
                                                             const std::string& model_path,
                                                             const EngineOptions& options);

// Where a worker remembers: the folder "bundle-hashes" in $CACHE_DIRECTORY (systemd's), or in
// "superfluid" in $XDG_CACHE_HOME or $HOME/.cache; empty without any of them.
std::string BundleMemoryFolder();

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_LOADER_BUNDLE_MEMORY_H_
