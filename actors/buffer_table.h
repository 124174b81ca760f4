#ifndef SUPERFLUID_ACTORS_BUFFER_TABLE_H_
#define SUPERFLUID_ACTORS_BUFFER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/messages.h"
#include "shm/segment.h"

namespace superfluid {

struct BufferLimits {
  size_t max_buffers = 1024;
  uint64_t max_bytes = uint64_t{16} << 30;  // mapped by one link, all buffers together
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

  // Unknown ids are ignored: a release is idempotent.
  void Release(linkw::BufId id);

  bool Contains(linkw::BufId id) const { return buffers_.contains(id); }
  size_t size() const { return buffers_.size(); }

  // Bytes mapped, released buffers that are still in use included.
  uint64_t MappedBytes();

 private:
  const BufferLimits limits_;
  std::map<linkw::BufId, std::shared_ptr<const Segment>> buffers_;
  std::vector<std::weak_ptr<const Segment>> released_;  // may still be in use
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_BUFFER_TABLE_H_
