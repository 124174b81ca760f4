#ifndef SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_FILE_H_
#define SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "protocol/codec/state_envelope.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"

namespace superfluid::ctl {

// A file with one sequence: its tokens, and its sealed state in every state space. Little-endian:
//
//    0  8  magic "SFLSNAP\n"               then  4 each  the tokens
//    8  4  version, 1                      then  16 each  a space: u32 id, u32 0, u64 sealed bytes
//   12  4  flags; bit 0: tokens are bytes  then  8  XXH3-64 of all before
//   16 32  engine bundle hash              then  each space's sealed state, as a worker sealed it
//   48  8  position that the state is at
//   56  4  number of tokens
//   60  4  number of spaces, at most 64
//
// The file ends with the last sealed state. Tokens beyond the position have to be fed again.
struct SnapshotSpace {
  linkw::SpaceId id{};
  uint64_t sealed_bytes = 0;
  bool operator==(const SnapshotSpace&) const = default;
};

struct SnapshotDirectory {
  bool tokens_are_bytes = false;
  linkw::Hash bundle_hash{};  // of the worker that made it; for people
  uint64_t position = 0;
  std::vector<linkw::Token> tokens;
  std::vector<SnapshotSpace> spaces;
  bool operator==(const SnapshotDirectory&) const = default;
};

// Whether a snapshot may be written to `path`. Links are not followed: a snapshot takes its name by
// a rename, which would replace the link. Errors: FailedPrecondition (it is there and is no regular
// file; the text says so), AlreadyExists (it is a regular file, and not `force`), Internal (its
// folder takes no file: one is made and removed).
absl::Status CheckSnapshotTarget(const std::string& path, bool force);

// Writes a snapshot so that `path` has all of it or is as before, also if the machine stops: a file
// beside it, synced, read back and checked, then renamed. Mode 0600: it is somebody's conversation.
// `states`: the sealed bytes of each space. Errors: those of CheckSnapshotTarget, Internal (files;
// the text names it, and where the snapshot is if it is whole and could not take its name),
// DataLoss (what is on the disk is not what was written).
absl::Status WriteSnapshotFile(const std::string& path, bool force,
                               const SnapshotDirectory& directory,
                               absl::Span<const absl::Span<const std::byte>> states);

// Reads one; believes nothing of it. Threads: one.
class SnapshotFile {
 public:
  // Reads and checks the directory, held against the file's length before anything is allocated.
  // Errors: Internal (it cannot be read), InvalidArgument (it is no snapshot, damaged or cut; the
  // text says which).
  static absl::StatusOr<SnapshotFile> Open(const std::string& path);

  const SnapshotDirectory& directory() const { return directory_; }

  // Reads the sealed state of space number `index` into `out`, which has its sealed bytes.
  absl::Status ReadState(size_t index, absl::Span<std::byte> out) const;

  // Reads it, and checks it and that it is what the directory says. InvalidArgument: it is not.
  absl::StatusOr<linkw::StateEnvelope> CheckState(size_t index) const;

 private:
  SnapshotFile(std::string path, OwnedFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  absl::Status ReadDirectory();
  absl::StatusOr<uint64_t> ReadHeader(uint64_t file_bytes) const;
  absl::Status Decode(absl::Span<const std::byte> bytes, uint64_t state_bytes);
  absl::Status ReadAt(uint64_t offset, absl::Span<std::byte> out) const;
  absl::Status No(const std::string& what) const;

  std::string path_;
  OwnedFd fd_;
  SnapshotDirectory directory_;
  std::vector<uint64_t> offsets_;  // of each space's sealed state
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_STATE_SNAPSHOT_FILE_H_
