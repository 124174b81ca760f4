#ifndef SUPERFLUID_PROTOCOL_CLIENT_REPLY_STREAM_H_
#define SUPERFLUID_PROTOCOL_CLIENT_REPLY_STREAM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/messages.h"

namespace superfluid::linkw {

class LinkConnection;
class ReplyQueue;

// The answers to one request, in the order in which they came. Thread-safe; made by
// LinkClient::Start. Destroying it drops what has not been taken and what still comes.
class ReplyStream {
 public:
  ReplyStream(std::shared_ptr<LinkConnection> connection, std::shared_ptr<ReplyQueue> queue,
              uint64_t request_seq);
  ReplyStream(const ReplyStream&) = delete;
  ReplyStream& operator=(const ReplyStream&) = delete;
  ~ReplyStream();

  // Waits for the next answer; an ERROR frame is one. Errors: DeadlineExceeded (call again to go on
  // waiting), kLinkClosed once the answers that came before the end were taken, InvalidArgument for
  // an answer that breaks the protocol's rules.
  absl::StatusOr<WorkerMessage> Next(Deadline deadline = Deadline::Never());

  // The frame's seq: what the worker's messages and cancels call this request.
  uint64_t request_seq() const { return request_seq_; }

 private:
  std::shared_ptr<LinkConnection> connection_;
  std::shared_ptr<ReplyQueue> queue_;
  uint64_t request_seq_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_REPLY_STREAM_H_
