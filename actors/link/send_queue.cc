#include "actors/link/send_queue.h"

#include <utility>

namespace superfluid {

void SendQueue::Push(std::string frame) {
  queued_bytes_ += frame.size();
  frames_.push_back(std::move(frame));
}

absl::Span<const std::string_view> SendQueue::Pieces(size_t max_pieces) {
  pieces_.clear();
  size_t skip = front_written_;
  for (const std::string& frame : frames_) {
    if (pieces_.size() == max_pieces) break;
    pieces_.push_back(std::string_view(frame).substr(skip));
    skip = 0;
  }
  return pieces_;
}

size_t SendQueue::Consume(size_t bytes) {
  size_t done = 0;
  queued_bytes_ -= bytes;
  bytes += front_written_;
  while (!frames_.empty() && bytes >= frames_.front().size()) {
    bytes -= frames_.front().size();
    ++done;
    frames_.pop_front();
  }
  front_written_ = bytes;
  return done;
}

}  // namespace superfluid
