#ifndef SUPERFLUID_ACTORS_STATE_OPS_BUFFER_TABLE_H_
#define SUPERFLUID_ACTORS_STATE_OPS_BUFFER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "actors/messages/limits.h"
#include "protocol/messages/messages.h"
#include "shm/segment.h"

namespace superfluid {

struct BufferLimits {
  size_t max_buffers = kMaxBuffers;
  uint64_t max_bytes = kMaxBufferBytes;  // of one link: buffers, and copies made of them
};

// The shared-memory buffers of one link, by id.
//
// A buffer is used by holding the shared pointer that Use returns. Release forgets the id at once,
// so that nothing new can use it, while the memory stays mapped (and counted) until the last user
// lets go: memory that a running piece of work may touch is never unmapped. Threads: one; the
// segments' last user may be any thread.
class BufferTable {
 public:
  explicit BufferTable(const BufferLimits& limits) : limits_(limits) {}

  // Whether `bytes` more would fit. Errors: OUT_OF_MEMORY (ResourceExhausted).
  absl::Status CheckRoom(uint64_t bytes);

  // Errors: InvalidArgument if `id` is in use, OUT_OF_MEMORY as above.
  absl::Status Insert(linkw::BufId id, Segment segment);

  // Errors: NotFound.
  absl::StatusOr<std::shared_ptr<const Segment>> Use(linkw::BufId id) const;

  // Errors: InvalidArgument if `id` is in use.
  absl::Status CheckId(linkw::BufId id) const;

  // Unknown ids are ignored: a release is idempotent. So is one of another buffer than `only`, if
  // that is not null.
  void Release(linkw::BufId id, const std::shared_ptr<const Segment>& only = nullptr);

  bool Contains(linkw::BufId id) const { return buffers_.contains(id); }
  size_t size() const { return buffers_.size(); }

  // Private memory for a copy of a buffer's contents counts with the buffers, until DropCopy.
  // Errors: OUT_OF_MEMORY.
  absl::Status TakeCopy(uint64_t bytes);
  void DropCopy(uint64_t bytes) { copied_bytes_ -= bytes; }

  // Bytes mapped, released buffers that are still in use included, and copied.
  uint64_t BytesInUse();

 private:
  absl::Status CheckBytes(uint64_t bytes);

  const BufferLimits limits_;
  std::map<linkw::BufId, std::shared_ptr<const Segment>> buffers_;
  uint64_t copied_bytes_ = 0;
  std::vector<std::weak_ptr<const Segment>> released_;  // may still be in use
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_BUFFER_TABLE_H_
