#include "actors/link/send_queue.h"

#include <algorithm>
#include <utility>

namespace superfluid {

void SendQueue::Push(Frame frame) {
  queued_bytes_ += frame.bytes.size();
  frames_.push_back(std::move(frame));
}

std::vector<std::string_view> SendQueue::Pieces(size_t max_pieces) const {
  std::vector<std::string_view> pieces;
  pieces.reserve(std::min(max_pieces, frames_.size()));
  size_t skip = front_written_;
  for (const Frame& frame : frames_) {
    if (pieces.size() == max_pieces) break;
    pieces.push_back(std::string_view(frame.bytes).substr(skip));
    skip = 0;
  }
  return pieces;
}

std::vector<uint64_t> SendQueue::Consume(size_t bytes) {
  std::vector<uint64_t> done;
  queued_bytes_ -= bytes;
  bytes += front_written_;
  while (!frames_.empty() && bytes >= frames_.front().bytes.size()) {
    bytes -= frames_.front().bytes.size();
    done.push_back(frames_.front().ticket);
    frames_.pop_front();
  }
  front_written_ = bytes;
  return done;
}

}  // namespace superfluid
