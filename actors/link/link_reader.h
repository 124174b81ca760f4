#ifndef SUPERFLUID_ACTORS_LINK_LINK_READER_H_
#define SUPERFLUID_ACTORS_LINK_LINK_READER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "actors/link/read_credit.h"
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
  // only, so that bulk does not hold them up. Live audio holds frame credit until the dispatcher
  // has handed it on, and its bytes until the engine took them: a step of the engine stops no
  // cancel behind many small chunks. PING and cancels have a credit of their own.
  static constexpr ReadCredit::Amount kCredit = {
      .frames = kFrameCredit, .urgent_frames = kUrgentCredit, .payload_bytes = kByteCredit};
  std::shared_ptr<ReadCredit> credit = std::make_shared<ReadCredit>(kCredit);
};

// Returns the credit that a frame takes.
ReadCredit::Amount CreditOf(const linkw::Frame& frame);

// Reads the frames socket of one link; never looks into a payload.
//
//   ReadSocket --> decode --> FrameReceived ... until no credit for the next frame, of which the
//                        \                     header is known (then CreditGiven resumes)
//                        \--> ReadingEnded, once, and the actor ends: end of file, or a link error
//
// A peer that is gone is noticed without credit, too, and what it sent and was not read is dropped
// (END-3). One that has closed its sending half only is read to its end (END-4).
//
// Ends with its dispatcher, too.
//
// Reads until the socket gave less than there was room for, for at most kBytesPerTurn, and then
// waits without blocking: it shares its thread with other links.
class LinkReaderState {
 public:
  static constexpr const char* name = "link-reader";

  explicit LinkReaderState(LinkReader::pointer self) : self_(self) {}

  void Start(std::shared_ptr<ByteStream> stream, Dispatcher dispatcher, LinkReaderOptions options);
  void OnReadable();
  void OnCredit();
  void OnPeerGone();

 private:
  bool HasCredit(const linkw::FrameHeader& next) const;
  // Returns false when there is nothing more to do for now.
  bool DecodeSome();
  enum class ReadOutcome { kMore, kDrained, kStop };
  ReadOutcome ReadSome();
  void Deliver(linkw::Frame frame);
  void End(absl::Status status);
  void WaitUntilReadable();
  void WaitUntilGone();

  LinkReader::pointer self_;
  std::shared_ptr<ByteStream> stream_;
  Dispatcher dispatcher_;
  linkw::FrameDecoder decoder_;
  std::shared_ptr<ReadCredit> credit_;
  bool stalled_ = false;  // out of credit; nothing waits on the socket but for the peer's end
  bool ended_ = false;
};

LinkReader::behavior_type LinkReaderBehavior(LinkReader::stateful_pointer<LinkReaderState> self,
                                             std::shared_ptr<ByteStream> stream,
                                             Dispatcher dispatcher, LinkReaderOptions options);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_LINK_READER_H_
