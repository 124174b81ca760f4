#ifndef SUPERFLUID_ACTORS_LINK_SEND_QUEUE_H_
#define SUPERFLUID_ACTORS_LINK_SEND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace superfluid {

// The encoded frames that wait for a link's socket, first in, first out. Each carries a caller's
// `ticket`, handed back when its last byte was written, so that the caller can tell the sender.
// What may enter is the caller's decision: droppable frames only while little is queued, required
// ones always, since their senders' credit bounds them. Threads: one.
class SendQueue {
 public:
  struct Frame {
    std::string bytes;
    uint64_t ticket = 0;
  };

  void Push(Frame frame);

  // The next bytes to write, at most `max_pieces` pieces, in order. Valid until Push or Consume.
  std::vector<std::string_view> Pieces(size_t max_pieces) const;

  // `bytes` of the pieces were written. Returns the tickets of the frames that this completed.
  std::vector<uint64_t> Consume(size_t bytes);

  bool empty() const { return frames_.empty(); }
  size_t queued_bytes() const { return queued_bytes_; }

 private:
  std::deque<Frame> frames_;
  size_t front_written_ = 0;  // bytes of the first frame that are written already
  size_t queued_bytes_ = 0;   // not yet written
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_SEND_QUEUE_H_
