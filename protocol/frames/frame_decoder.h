#ifndef SUPERFLUID_PROTOCOL_FRAMES_FRAME_DECODER_H_
#define SUPERFLUID_PROTOCOL_FRAMES_FRAME_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "protocol/frames/frame.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {

// Turns the bytes of a stream, in pieces of any size, into frames. Not thread-safe.
//
//   while (open) {
//     absl::Span<char> space = decoder.Prepare();
//     decoder.Commit(read(fd, space.data(), space.size()));     // errors and 0 left out here
//     while (true) { auto frame = decoder.Next(); ... until an error or nullopt }
//   }
//
// A header is checked whole (magic, crc32, version, the payload limit of its type, seq = last + 1)
// before anything is allocated for its payload. What the payload then takes grows with the bytes
// that really arrive: a MiB at first, and room for all of it, not yet touched, after that MiB.
// Memory: one read buffer, and one payload of at most the limit of its type.
//
// Unknown types: a droppable frame is skipped and counted. A required one is delivered, once its
// last byte was skipped, with an empty payload, so that the caller can answer UNIMPLEMENTED. Either
// way its bytes are dropped as they come; it may have up to max_frame of them, and its seq counts.
//
// Errors: a bad frame gives kProtocolError (kVersionMismatch if that was it), naming the rule, the
// byte offset, the type and the seq. The stream has no way back into step, so every later Next
// gives the same error, and further bytes are ignored.
class FrameDecoder {
 public:
  static constexpr size_t kReadBytes = 64u << 10;

  explicit FrameDecoder(uint32_t max_frame = kDefaultMaxFrame) : max_frame_(max_frame) {}

  // Where to read the next bytes to; never empty, and valid until the next call of any method. Call
  // it when Next has given nullopt: what is not decoded yet stays buffered, and the buffer grows.
  // Inside a large payload this is the payload's own memory, so that bulk is not copied.
  absl::Span<char> Prepare();

  // Takes over the first `size` bytes of the space that Prepare gave; more would be a defect.
  void Commit(size_t size);

  // The same for bytes that lie elsewhere: copies them.
  void Append(std::string_view bytes);

  // The next whole frame, or nullopt if more bytes are needed.
  absl::StatusOr<std::optional<Frame>> Next();

  // The header of the frame that Next will give, as soon as it is there and checked, or nullopt.
  // For a reader that takes some frames only: as long as it does not call Next, no memory is used
  // for the payload.
  absl::StatusOr<std::optional<FrameHeader>> NextHeader();

  // The version and the limit that the following frames must have. They apply from the next header
  // that Next looks at: decode no further than HELLO until its answer is known.
  void SetVersion(uint16_t version) { version_ = version; }
  void SetMaxFrame(uint32_t max_frame) { max_frame_ = max_frame; }

  uint64_t bytes_received() const { return bytes_received_; }
  uint64_t skipped_frames() const { return skipped_frames_; }

  // Whether the stream may end here: no part of a frame is pending.
  bool at_boundary() const { return !header_.has_value() && buffered() == 0; }

 private:
  size_t buffered() const { return end_ - begin_; }
  bool ReadsDirectly() const;
  void GrowPayload();
  void MakeRoom(size_t size);
  bool SkipsFrame() const;
  absl::Status TakeHeader();
  absl::Status CheckHeader(const char* bytes) const;
  void TakePayload();
  void AppendToPayload(size_t size);
  Frame FinishFrame();
  absl::Status LinkError(std::string_view what, const FrameHeader* header,
                         Status status = Status::kProtocolError) const;

  uint32_t max_frame_;
  uint16_t version_ = kProtoVersion;
  uint64_t last_seq_ = 0;
  uint64_t bytes_received_ = 0;
  uint64_t skipped_frames_ = 0;

  std::vector<char> buffer_;  // bytes not looked at yet: [begin_, end_)
  size_t begin_ = 0;
  size_t end_ = 0;
  bool prepared_direct_ = false;  // the last Prepare gave memory of payload_

  // The frame in progress.
  std::optional<FrameHeader> header_;  // set once its 32 bytes were checked
  std::string payload_;                // may be longer than payload_taken_, ready to be read into
  uint32_t payload_taken_ = 0;         // bytes of the payload received, kept or skipped
  uint64_t frame_offset_ = 0;          // of the frame in progress, or of the next one
  absl::Status error_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_FRAMES_FRAME_DECODER_H_
