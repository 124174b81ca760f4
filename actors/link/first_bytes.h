#ifndef SUPERFLUID_ACTORS_LINK_FIRST_BYTES_H_
#define SUPERFLUID_ACTORS_LINK_FIRST_BYTES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// Decides by its first bytes what a connection is for.
//
//   magic of a frame --> a whole frame, one that cannot be right, or too much --> kFrames
//   16 other bytes ---------------------------------------------------------------> kDescriptors
//
// Threads: one.
class FirstBytes {
 public:
  enum class Kind { kUndecided, kFrames, kDescriptors };

  // What may come before a link is made, which then says what is wrong: a HELLO of any size fits.
  static constexpr size_t kMaxBytes = (size_t{64} << 10) + 4096;

  // Returns how many bytes may be read next: none that belong to a descriptor.
  size_t wanted() const;

  // Takes the bytes that arrived. REQUIRES: as many as wanted at most, and kUndecided until now.
  Kind Add(std::string_view bytes);

  // Everything that was read, for the link's reader to begin with.
  std::string TakeReceived() { return std::move(received_); }

  // REQUIRES: kDescriptors.
  linkw::LinkToken token() const;

 private:
  bool IsFrames() const;

  std::string received_;
  linkw::FrameDecoder decoder_{static_cast<uint32_t>(kMaxBytes)};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_FIRST_BYTES_H_
