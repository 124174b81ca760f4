#ifndef SUPERFLUID_PROTOCOL_DRIVER_DRIVER_BUFFERS_H_
#define SUPERFLUID_PROTOCOL_DRIVER_DRIVER_BUFFERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "protocol/client/link_client.h"
#include "protocol/client/reply_stream.h"
#include "protocol/driver/fd_inbox.h"
#include "protocol/messages/messages.h"
#include "shm/segment.h"

namespace superfluid::linkw {

// A buffer that driver and worker share; made by DriverBuffers. Move-only; a moved-from one is
// empty. Destroying it tells the worker to let go (which waits for an op that uses it) and unmaps.
//
// Threads: one at a time; the bytes are the caller's to synchronise (with the worker: by the Done
// of the op that uses them). Lifetime: the client must outlive it.
class DriverBuffer {
 public:
  DriverBuffer() = default;
  DriverBuffer(DriverBuffer&& other) noexcept;
  DriverBuffer& operator=(DriverBuffer&& other) noexcept;
  DriverBuffer(const DriverBuffer&) = delete;
  DriverBuffer& operator=(const DriverBuffer&) = delete;
  ~DriverBuffer() { Release(); }

  BufId id() const { return id_; }
  // The worker may write them at any moment: copy, then check.
  absl::Span<std::byte> bytes() const { return {segment_.data(), segment_.size()}; }

  // A buffer of ours that the worker refused: why. Nothing is said if it is taken, so OK may mean
  // "not yet"; an op that then finds no such buffer has been answered after the refusal.
  absl::Status refusal() const;

  // What the destructor does; any number of times.
  void Release();

 private:
  friend class DriverBuffers;
  DriverBuffer(LinkClient& client, BufId id, Segment segment,
               std::unique_ptr<ReplyStream> attach_replies);

  LinkClient* client_ = nullptr;  // null: empty
  BufId id_{};
  Segment segment_;
  std::unique_ptr<ReplyStream> attach_replies_;  // of a buffer of ours
};

// Where a driver gets its buffers. Only one to a link: it alone receives descriptors, and numbers
// the buffers from 2^32 on, apart from other tags.
//
// Threads: any may call any method. Lifetime: the client must outlive it; buffers may outlive it.
// Destroying it ends the link's fds connection, so nothing can be attached afterwards.
class DriverBuffers {
 public:
  // FailedPrecondition: the link has no fds connection.
  static absl::StatusOr<std::unique_ptr<DriverBuffers>> Open(LinkClient& client,
                                                             absl::Duration timeout);

  // Memory that the worker makes (BUF_ALLOC). Errors: what the worker answers (kOutOfMemory,
  // kBusy), DeadlineExceeded (no answer, or no descriptor, in time), InvalidArgument (0 bytes; what
  // it sent is not what it said), those of a link.
  absl::StatusOr<DriverBuffer> Allocate(uint64_t bytes);

  // Zeroed memory of our own, attached (BUF_ATTACH). The worker does not say that it took it: see
  // DriverBuffer::refusal. Errors: InvalidArgument (0 bytes), ResourceExhausted, those of SendFd
  // and of a link.
  absl::StatusOr<DriverBuffer> Attach(uint64_t bytes);

 private:
  DriverBuffers(LinkClient& client, absl::Duration timeout);
  BufId NextId() { return BufId{next_id_.fetch_add(1)}; }

  LinkClient& client_;
  const absl::Duration timeout_;
  std::atomic<uint64_t> next_id_{uint64_t{1} << 32};
  FdInbox inbox_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_DRIVER_DRIVER_BUFFERS_H_
