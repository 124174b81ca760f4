#ifndef SUPERFLUID_TOOLS_DECODE_AV_INPUT_H_
#define SUPERFLUID_TOOLS_DECODE_AV_INPUT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "tools/decode/decode_message.h"

struct AVIOContext;

namespace superfluid::decode {

// A recording's bytes as libav reads them, from a descriptor: by position where the file has
// positions (the descriptor's own is not touched: others may share it), else in order. Threads:
// one.
class AvInput {
 public:
  // `fd` must outlive it. Errors: ResourceExhausted (more bytes than `limits` allow; memory),
  // InvalidArgument (an empty file, a folder).
  static absl::StatusOr<std::unique_ptr<AvInput>> Open(int fd, const DecodeLimits& limits);
  ~AvInput();
  AvInput(const AvInput&) = delete;
  AvInput& operator=(const AvInput&) = delete;

  AVIOContext* context() { return context_; }
  bool seekable() const { return size_ >= 0; }
  // Whether more than the allowed bytes came out of a pipe.
  bool exceeded() const { return exceeded_; }

 private:
  AvInput(int fd, int64_t size, uint64_t max_bytes);
  static int ReadPacket(void* self, uint8_t* buffer, int bytes);
  static int64_t SeekTo(void* self, int64_t offset, int whence);
  int Read(uint8_t* buffer, int bytes);
  int64_t Seek(int64_t offset, int whence);

  const int fd_;
  const int64_t size_;  // -1: it has no positions
  const uint64_t max_bytes_;
  int64_t position_ = 0;
  bool exceeded_ = false;
  AVIOContext* context_ = nullptr;
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_AV_INPUT_H_
