#ifndef SUPERFLUID_ACTORS_STATE_OPS_FILE_COPY_H_
#define SUPERFLUID_ACTORS_STATE_OPS_FILE_COPY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "actors/runtime/memory_budget.h"
#include "engine/cancel_token.h"

namespace superfluid {

// A file as it was when it was copied.
struct CopiedFile {
  std::string name;                  // by which a library can open the copy while it is held
  std::shared_ptr<const void> held;  // the copy
};

// Copies the file that a peer named, below `root`, into sealed memory: who opens the copy reads
// what was there, never waits for the file's mount, and cannot be given another file. Looks at
// `token` between blocks.
//
// Errors, each an exact wire status: NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (no regular
// file; more than `most_bytes`; shorter at its end than it was), BUSY (no room in `budget`),
// OUT_OF_MEMORY, CANCELLED, FAILED_PRECONDITION (there is no /proc), INTERNAL (it cannot be read).
// Threads: any; blocks for as long as reading takes, for ever on a mount that hangs.
absl::StatusOr<CopiedFile> CopyFile(const std::string& root, const std::string& path,
                                    uint64_t most_bytes, MemoryBudget& budget,
                                    const CancelToken& token);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_FILE_COPY_H_
