#ifndef SUPERFLUID_ACTORS_LINK_LINK_WRITER_H_
#define SUPERFLUID_ACTORS_LINK_LINK_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/link/send_queue.h"
#include "actors/messages/alarm_clock_interface.h"
#include "actors/messages/dispatcher_interface.h"
#include "actors/messages/limits.h"
#include "actors/messages/link_writer_interface.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/transport/byte_stream.h"

namespace superfluid {

struct LinkWriterOptions {
  uint32_t max_frame = linkw::kDefaultMaxFrame;
  size_t droppable_limit_bytes = kDroppableBytes;  // more than this unsent: droppable frames go
  uint64_t unsent_bytes = kUnsentBytes;            // more than this unsent: the link ends
  absl::Duration linger = absl::Seconds(1);        // for the last bytes when the link closes
  AlarmClock alarms;
};

// Owns the write half of one link's frames socket, its sequence numbers and its outgoing queue.
//
//   SendMessage --> encode --> queue --> socket --> FrameWritten to the sender
//                                            \--> WritingFailed, once: the peer cannot be reached
//   CloseLink --> last word --> queue empty or linger over --> Shutdown of the stream, the end
//
// A tick's result says how many of its emits were dropped. An answer that does not fit into a frame
// is replaced by a TOO_LARGE answer, so that its request is answered all the same; another message
// that does not fit is dropped. Writes happen at once; frames that pile up while the socket is
// full, and those that were handed over together, leave in one gathered write. The senders' credit
// bounds what piles up; beyond `unsent_bytes` the peer counts as gone.
//
// If the dispatcher ends without a CloseLink, the peer is told that the link failed.
//
// Never blocks: it writes at once where it runs, and is told when a full socket has room again.
class LinkWriterState {
 public:
  static constexpr const char* name = "link-writer";

  explicit LinkWriterState(LinkWriter::pointer self) : self_(self) {}

  void Start(std::shared_ptr<ByteStream> stream, Dispatcher dispatcher, LinkWriterOptions options);
  void OnSend(const SendMessage& send);
  void OnWritable();
  void OnClose(const CloseLink& close);
  // The dispatcher has ended: if it closed the link before, the writer goes on with that.
  void OnDispatcherDown();

 private:
  // Who is told when a frame of the queue was written.
  struct Ticket {
    FrameWrittenSink ack_to;
    std::shared_ptr<UnsentReplies> counted_by;
    uint64_t payload_bytes = 0;
  };

  void CountDropped(const SendMessage& send);
  std::shared_ptr<const linkw::WorkerMessage> WithDroppedEmits(const SendMessage& send);
  // Queues a frame; `ticket` is told if nothing is queued in its place, too.
  void Enqueue(linkw::UnfinishedFrame frame, uint64_t correlation, Ticket ticket);
  absl::StatusOr<std::string> EncodeRefusal(linkw::MessageType type, size_t payload_bytes,
                                            uint64_t correlation);
  void Flush();
  void FlushUnlessMoreFollows();
  bool WriteSome();
  void Acknowledge(size_t frames);
  void Tell(const Ticket& ticket, bool dropped);
  void WaitUntilWritable();
  void Fail(absl::Status status);
  void EndIfDone();
  bool LingerIsOver();

  LinkWriter::pointer self_;
  std::shared_ptr<ByteStream> stream_;
  Dispatcher dispatcher_;
  LinkWriterOptions options_;
  linkw::FrameEncoder encoder_;
  SendQueue queue_;
  std::deque<Ticket> tickets_;                  // of the frames of queue_
  std::map<uint64_t, uint32_t> dropped_emits_;  // by the tick that they belong to
  bool waiting_ = false;                        // a WriteSocket is on its way
  bool failed_ = false;
  bool closing_ = false;
  int64_t close_at_ns_ = 0;
};

LinkWriter::behavior_type LinkWriterBehavior(LinkWriter::stateful_pointer<LinkWriterState> self,
                                             std::shared_ptr<ByteStream> stream,
                                             Dispatcher dispatcher, LinkWriterOptions options);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_LINK_WRITER_H_
