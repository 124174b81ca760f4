#ifndef SUPERFLUID_SHM_SEGMENT_H_
#define SUPERFLUID_SHM_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shm/owned_fd.h"

namespace superfluid {

enum class SegmentAccess { kReadOnly, kReadWrite };

// What Segment::Attach accepts from a peer.
struct SegmentLimits {
  uint64_t max_bytes = uint64_t{1} << 36;  // largest file, not only the largest mapping
};

// A piece of memory shared with a peer: a memfd, sealed so that it can neither shrink nor grow, and
// its mapping in this process.
//
// The seals are what makes it safe to touch: without them the peer could truncate the file, and the
// next access would be a SIGBUS. They do not make the contents trustworthy: the peer may write, or
// punch holes (zeros), at any moment. So copy first and check the copy.
//
// Threads: const methods may be called from any thread; the bytes themselves are the caller's to
// synchronise. Lifetime: spans and pointers into the segment end with it. Move-only; a moved-from
// segment is empty (size 0).
class Segment {
 public:
  // Makes a zeroed segment of `bytes` (at least 1) and maps it for reading and writing. `name` is
  // for people (/proc/PID/maps), at most 200 bytes, no NUL. Errors: InvalidArgument (bytes is 0 or
  // over what a file can hold, bad name), ResourceExhausted (memory, descriptors).
  static absl::StatusOr<Segment> Create(uint64_t bytes, std::string_view name);

  // Takes a descriptor that a peer sent and maps its first `expected_bytes`. The file may be larger
  // (peers round up to pages) up to limits.max_bytes. Errors: InvalidArgument (expected_bytes is 0;
  // not a memfd of ordinary pages; not sealed against shrinking and growing; smaller than expected;
  // larger than the limit), PermissionDenied (kReadWrite, but a seal or the descriptor's own mode
  // forbids writing), ResourceExhausted (memory, mappings). The descriptor is closed in any case:
  // the mapping is enough.
  static absl::StatusOr<Segment> Attach(OwnedFd fd, uint64_t expected_bytes, SegmentAccess access,
                                        const SegmentLimits& limits = {});

  Segment() = default;
  ~Segment();
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The mapped bytes. Never write through it if writable() is false.
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  bool writable() const { return access_ == SegmentAccess::kReadWrite; }

  // `length` bytes from `offset`, whatever numbers a peer chose. OutOfRange if they do not lie
  // inside the segment. Bytes of a read-only segment must not be written through the result.
  absl::StatusOr<absl::Span<std::byte>> Slice(uint64_t offset, uint64_t length) const;

  // Brings every page in now, so that the hot path takes no page fault. Contents stay as they are.
  // ResourceExhausted if memory does not suffice.
  absl::Status Prefault() const;

  // Returns another descriptor of the same memory, for passing on. FailedPrecondition if empty or
  // attached, ResourceExhausted if the process has no descriptor left.
  absl::StatusOr<OwnedFd> DuplicateFd() const;

 private:
  Segment(OwnedFd fd, std::byte* data, size_t size, SegmentAccess access);
  static absl::StatusOr<Segment> Map(OwnedFd fd, size_t size, SegmentAccess access);
  void Unmap();

  OwnedFd fd_;  // none of an attached segment
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  SegmentAccess access_ = SegmentAccess::kReadOnly;
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_SEGMENT_H_
