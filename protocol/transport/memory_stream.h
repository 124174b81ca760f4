#ifndef SUPERFLUID_PROTOCOL_TRANSPORT_MEMORY_STREAM_H_
#define SUPERFLUID_PROTOCOL_TRANSPORT_MEMORY_STREAM_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "protocol/transport/byte_stream.h"

namespace superfluid {

struct MemoryStreamOptions {
  size_t capacity_bytes = size_t{256} * 1024;  // unread bytes each direction holds; at least 1
  size_t max_chunk_bytes = 0;  // most that one Read or Write moves; 0: no limit, 1: byte by byte
  std::optional<uid_t> peer_uid = std::nullopt;  // what both ends report
};

// Two connected ByteStreams without a socket, for tests and simulation. A Write that finds no room
// at all is kWouldBlock; bytes written before the writer's Shutdown can still be read.
std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> MakeMemoryStreamPair(
    const MemoryStreamOptions& options = {});

}  // namespace superfluid

#endif  // SUPERFLUID_PROTOCOL_TRANSPORT_MEMORY_STREAM_H_
