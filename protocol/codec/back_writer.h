#ifndef SUPERFLUID_PROTOCOL_CODEC_BACK_WRITER_H_
#define SUPERFLUID_PROTOCOL_CODEC_BACK_WRITER_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/frames/little_endian.h"

namespace superfluid::linkw {

// Writes Protobuf's encoding from the last byte to the first, so that the length of a message is
// known when it is to be written, in one pass. The buffer is kept from payload to payload, and
// grows as needed. Internal to the codecs. Threads: one.
class BackWriter {
 public:
  // Bytes written since the last Clear.
  size_t size() const { return static_cast<size_t>(end_ - at_); }

  // Drops what was written, and a buffer that one payload has made larger than others need.
  void Clear() {
    if (capacity_ > kMaxKeptBytes) {
      buffer_.reset();
      capacity_ = 0;
      end_ = nullptr;
    }
    at_ = end_;
  }

  // Returns a copy of what was written.
  std::string ToString() const { return {at_, size()}; }

  void Varint(uint64_t value) {
    Reserve(kMaxVarintBytes + kTagBytes);
    if (value < 0x80) [[likely]] {
      *--at_ = static_cast<char>(value);
      return;
    }
    at_ -= (std::bit_width(value) + 6) / 7;
    char* to = at_;
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to = static_cast<char>(value);
  }

  // Writes a tag of one byte. REQUIRES: right after Varint or Fixed32, which leave room for it.
  void Tag(uint8_t tag) { *--at_ = static_cast<char>(tag); }

  void Fixed32(uint32_t bits) {
    Reserve(sizeof(bits) + kTagBytes);
    at_ -= sizeof(bits);
    StoreLittleEndian(bits, at_);
  }

  void Bytes(std::string_view bytes) {
    Space(bytes.size());
    std::copy(bytes.begin(), bytes.end(), at_);
  }

  // Leaves room for so many bytes, whose contents are unspecified.
  void Space(size_t size) {
    Reserve(size);
    at_ -= size;
  }

 private:
  static constexpr size_t kMaxVarintBytes = 10;
  static constexpr size_t kTagBytes = 1;
  static constexpr size_t kFirstBytes = size_t{4} << 10;
  static constexpr size_t kMaxKeptBytes = size_t{512} << 10;

  void Reserve(size_t size) {
    if (static_cast<size_t>(at_ - buffer_.get()) < size) [[unlikely]]
      Grow(size);
  }

  void Grow(size_t size) {
    const size_t written = this->size();
    const size_t capacity = std::max({kFirstBytes, 2 * capacity_, written + size});
    auto buffer = std::make_unique_for_overwrite<char[]>(capacity);
    char* const end = buffer.get() + capacity;
    std::copy(at_, end_, end - written);
    buffer_ = std::move(buffer);
    capacity_ = capacity;
    end_ = end;
    at_ = end - written;
  }

  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  char* end_ = nullptr;
  char* at_ = nullptr;  // the first byte written, or end_
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_BACK_WRITER_H_
