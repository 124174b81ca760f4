#ifndef SUPERFLUID_PROTOCOL_TRANSPORT_BYTE_STREAM_H_
#define SUPERFLUID_PROTOCOL_TRANSPORT_BYTE_STREAM_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "shm/io_state.h"

namespace superfluid {

struct IoResult {
  size_t bytes = 0;  // more than 0 only if the state is kOk
  IoState state = IoState::kWouldBlock;
};

// A connected stream of bytes, both ways: a socket in a real worker, two queues in memory under the
// deterministic scheduler and its virtual time.
//
// Who waits is told by a callback, and blocks only for a socket without a watch (FdWatch): that one
// blocks the calling thread in poll(2) and then calls `ready` on it, as a client with a thread of
// its own likes it. A socket with a watch returns at once, and the watch's thread calls `ready`. A
// memory stream returns at once and has `ready` called by the thread that writes, reads or shuts
// down the other end (at once if it is due already).
//
// Threads: one thread reads, one (perhaps another) writes, any may call Shutdown and peer_uid.
// Lifetime: destroying a stream closes it; a callback that still waits is then dropped uncalled.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Takes what has arrived, up to out.size() bytes, without blocking. kClosed: the peer closed its
  // sending half (or vanished) and all it sent was read, or Shutdown was called here.
  // Errors: InvalidArgument (`out` is empty), Internal (the socket failed; close the link).
  virtual absl::StatusOr<IoResult> Read(absl::Span<char> out) = 0;

  // Sends `pieces` in order, as much as fits, without blocking: `bytes` may end inside a piece.
  // Pieces that hold nothing at all give {0, kOk}. kClosed: the peer will read no more, or Shutdown
  // was called here. Errors: Internal (the socket failed; close the link).
  virtual absl::StatusOr<IoResult> Write(absl::Span<const std::string_view> pieces) = 0;

  // Calls `ready` once when Read has something to say: bytes, an error or the end. One callback at
  // a time: a second call replaces one that still waits.
  virtual void WhenReadable(std::function<void()> ready) = 0;

  // Calls `ready` once when Write has something to say: room, an error or the end. A socket that
  // blocks calls it after `patience` in any case; the others have no need to. One callback at a
  // time, as above.
  virtual void WhenWritable(std::function<void()> ready, absl::Duration patience) = 0;

  // Calls `gone` once when the other side has closed both directions or vanished: for who does not
  // read for a while, since what was sent before may wait to be read still. A side that has closed
  // its sending half only is not gone. A socket that blocks never calls it. One callback at a time,
  // as above; null takes it back.
  virtual void WhenGone(std::function<void()> gone) = 0;

  // Ends both directions here and wakes whoever waits. What was written before still reaches the
  // peer. Any thread, any number of times.
  virtual void Shutdown() = 0;

  // The user that the peer ran as when it connected; nullopt if the transport cannot tell.
  virtual std::optional<uid_t> peer_uid() const = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_PROTOCOL_TRANSPORT_BYTE_STREAM_H_
