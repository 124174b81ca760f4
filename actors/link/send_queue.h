#ifndef SUPERFLUID_ACTORS_LINK_SEND_QUEUE_H_
#define SUPERFLUID_ACTORS_LINK_SEND_QUEUE_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace superfluid {

// The encoded frames that wait for a link's socket, first in, first out. What may enter is the
// caller's decision: droppable frames only while little is queued, required ones always, since
// their senders' credit bounds them. Threads: one.
class SendQueue {
 public:
  void Push(std::string frame);

  // Returns the next bytes to write, at most `max_pieces` pieces, in order. Valid until the next
  // call of any method.
  absl::Span<const std::string_view> Pieces(size_t max_pieces);

  // Notes that `bytes` of the pieces were written. Returns how many frames, the oldest, this
  // completed.
  size_t Consume(size_t bytes);

  bool empty() const { return frames_.empty(); }
  size_t frames() const { return frames_.size(); }
  size_t queued_bytes() const { return queued_bytes_; }

 private:
  std::deque<std::string> frames_;
  std::vector<std::string_view> pieces_;  // kept for its memory
  size_t front_written_ = 0;              // bytes of the first frame that are written already
  size_t queued_bytes_ = 0;               // not yet written
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_SEND_QUEUE_H_
