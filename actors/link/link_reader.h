#ifndef SUPERFLUID_ACTORS_LINK_LINK_READER_H_
#define SUPERFLUID_ACTORS_LINK_LINK_READER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/limits.h"
#include "actors/messages/link_reader_interface.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/transport/byte_stream.h"

namespace superfluid {

struct LinkReaderOptions {
  uint32_t max_frame = linkw::kDefaultMaxFrame;
  // Frames, and bytes of their payloads, that the dispatcher may have unhandled. One frame may
  // exceed the bytes, so that any frame within max_frame gets through; small ones need frame credit
  // only, so that bulk does not hold them up. Live audio
  // holds frame credit until the dispatcher has handed it on, and its bytes until the engine took
  // them: a step of the engine stops no cancel behind many small chunks.
  uint32_t frame_credit = kFrameCredit;
  uint32_t urgent_credit =
      kUrgentCredit;  // of PING and cancels, behind as many others as there may be
  uint64_t byte_credit = kByteCredit;
};

// Reads the frames socket of one link; never looks into a payload.
//
//   ReadSocket --> decode --> FrameReceived ... until no credit for the next frame, of which the
//                        \                     header is known (then GrantFrames resumes)
//                        \--> ReadingEnded, once, and the actor ends: end of file, or a link error
//
// Ends with its dispatcher, too.
//
// Runs on a thread of its own, since a socket's WhenReadable blocks; Shutdown of the stream wakes
// it.
class LinkReaderState {
 public:
  static constexpr const char* name = "link-reader";

  explicit LinkReaderState(LinkReader::pointer self) : self_(self) {}

  void Start(std::shared_ptr<ByteStream> stream, Dispatcher dispatcher,
             const LinkReaderOptions& options);
  void OnReadable();
  void OnGrant(const GrantFrames& grant);

 private:
  bool HasCredit(const linkw::FrameHeader& next) const;
  // Both return false when there is nothing more to do for now.
  bool DecodeSome();
  bool ReadSome();
  void Deliver(linkw::Frame frame);
  void End(absl::Status status);
  void WaitUntilReadable();

  LinkReader::pointer self_;
  std::shared_ptr<ByteStream> stream_;
  Dispatcher dispatcher_;
  linkw::FrameDecoder decoder_;
  int64_t frame_credit_ = 0;
  int64_t urgent_credit_ = 0;
  int64_t byte_credit_ = 0;  // may go negative by one frame
  bool stalled_ = false;     // out of credit; nothing waits on the socket
  bool ended_ = false;
};

LinkReader::behavior_type LinkReaderBehavior(LinkReader::stateful_pointer<LinkReaderState> self,
                                             std::shared_ptr<ByteStream> stream,
                                             Dispatcher dispatcher, LinkReaderOptions options);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_LINK_READER_H_
