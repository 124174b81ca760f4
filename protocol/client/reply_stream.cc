#include "protocol/client/reply_stream.h"

#include <utility>

#include "protocol/client/link_connection.h"
#include "protocol/client/reply_queue.h"

namespace superfluid::linkw {

ReplyStream::ReplyStream(std::shared_ptr<LinkConnection> connection,
                         std::shared_ptr<ReplyQueue> queue, uint64_t request_seq)
    : connection_(std::move(connection)), queue_(std::move(queue)), request_seq_(request_seq) {}

ReplyStream::~ReplyStream() { connection_->Forget(request_seq_); }

absl::StatusOr<WorkerMessage> ReplyStream::Next(Deadline deadline) { return queue_->Pop(deadline); }

}  // namespace superfluid::linkw
