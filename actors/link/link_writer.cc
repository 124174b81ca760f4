#include "actors/link/link_writer.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/runtime/refusal.h"
#include "protocol/messages/message_type.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

constexpr size_t kMaxPieces = 64;  // of one write
// So much is written even if the writer has been handed more already: the first frame waits for the
// last.
constexpr size_t kMostGathered = size_t{64} << 10;
constexpr size_t kMostFramesGathered = 16;

}  // namespace

void LinkWriterState::Start(std::shared_ptr<ByteStream> stream, Dispatcher dispatcher,
                            LinkWriterOptions options) {
  stream_ = std::move(stream);
  dispatcher_ = std::move(dispatcher);
  options_ = std::move(options);
  encoder_.SetMaxFrame(options_.max_frame);
  self_->monitor(dispatcher_);
}

void LinkWriterState::OnSend(const SendMessage& send) {
  if (failed_ || closing_) return;
  // Before it costs anything: an engine can draw faster than a peer reads.
  if (linkw::IsDroppable(linkw::TypeOf(*send.message)) &&
      queue_.queued_bytes() >= options_.droppable_limit_bytes) {
    CountDropped(send);
    compat::Send(self_, send.ack_to, FrameWritten{.dropped = true});
    return FlushUnlessMoreFollows();  // an earlier one may have waited for this
  }
  Enqueue(linkw::SerializeFrame(*WithDroppedEmits(send)), send.correlation,
          {.ack_to = send.ack_to, .counted_by = send.counted_by});
  FlushUnlessMoreFollows();
  if (!failed_ && queue_.queued_bytes() > options_.unsent_bytes) {
    Fail(absl::ResourceExhaustedError(absl::StrCat(
        "the peer does not read: ", queue_.queued_bytes(), " bytes wait for its socket")));
  }
}

void LinkWriterState::CountDropped(const SendMessage& send) {
  if (std::holds_alternative<linkw::TickEmit>(*send.message)) ++dropped_emits_[send.correlation];
}

// The message, or, if it is the result of a tick that lost emits, one that says so.
std::shared_ptr<const linkw::WorkerMessage> LinkWriterState::WithDroppedEmits(
    const SendMessage& send) {
  if (dropped_emits_.empty()) return send.message;
  const auto* result = std::get_if<linkw::TickResult>(send.message.get());
  const auto dropped = dropped_emits_.find(send.correlation);
  if (result == nullptr || dropped == dropped_emits_.end()) return send.message;
  linkw::TickResult honest = *result;
  honest.events.dropped_emits = dropped->second;
  dropped_emits_.erase(dropped);
  return std::make_shared<const linkw::WorkerMessage>(std::move(honest));
}

void LinkWriterState::OnWritable() {
  waiting_ = false;
  if (!failed_) Flush();
  EndIfDone();
}

void LinkWriterState::OnClose(const CloseLink& close) {
  if (closing_) return;
  if (close.last_word && !failed_) {
    Enqueue(linkw::SerializeFrame(linkw::WorkerMessage(*close.last_word)), close.correlation, {});
  }
  closing_ = true;
  close_at_ns_ = compat::NowNs(self_) + absl::ToInt64Nanoseconds(options_.linger);
  if (!waiting_ && !failed_) Flush();
  EndIfDone();
  // The stream may never become writable again: look once more when the time is over.
  if (waiting_) {
    SetAlarmFor(self_, LinkWriter(self_), options_.alarms, 0, options_.linger, WriteSocket{});
  }
}

void LinkWriterState::OnDispatcherDown() {
  OnClose({linkw::Error{.status = linkw::Status::kInternal,
                        .message = "the link failed inside the worker",
                        .detail = {},
                        .fatal = true}});
}

void LinkWriterState::Enqueue(linkw::UnfinishedFrame frame, uint64_t correlation, Ticket ticket) {
  const size_t payload_bytes = frame.payload_bytes();
  ticket.payload_bytes = payload_bytes;
  std::string bytes = std::move(frame.bytes);
  if (!encoder_.Finish(frame.type, correlation, bytes).ok()) {
    spdlog::warn("frame.too_large type={} bytes={}", linkw::MessageTypeName(frame.type),
                 payload_bytes);
    absl::StatusOr<std::string> refusal = EncodeRefusal(frame.type, payload_bytes, correlation);
    if (!refusal.ok()) return Fail(refusal.status());
    if (refusal->empty()) return Tell(ticket, /*dropped=*/true);
    bytes = *std::move(refusal);
  }
  tickets_.push_back(std::move(ticket));
  queue_.Push(std::move(bytes));
}

// What goes out in place of a message that does not fit; empty: nothing.
absl::StatusOr<std::string> LinkWriterState::EncodeRefusal(linkw::MessageType type,
                                                           size_t payload_bytes,
                                                           uint64_t correlation) {
  const std::optional<linkw::WorkerMessage> instead = AnswerTooLarge(type, payload_bytes);
  if (!instead) return std::string();
  linkw::UnfinishedFrame answer = linkw::SerializeFrame(*instead);
  absl::Status status = encoder_.Finish(answer.type, correlation, answer.bytes);
  if (!status.ok()) return status;
  return std::move(answer.bytes);
}

// What is in the mailbox already leaves in the same write.
void LinkWriterState::FlushUnlessMoreFollows() {
  if (waiting_ || failed_) return;
  const bool gathers =
      queue_.queued_bytes() < kMostGathered && queue_.frames() < kMostFramesGathered;
  if (!gathers || !compat::HasMail(self_)) Flush();
}

void LinkWriterState::Flush() {
  while (!queue_.empty() && WriteSome()) {
  }
}

// Returns false when the socket takes no more for now, or never again.
bool LinkWriterState::WriteSome() {
  const absl::StatusOr<IoResult> written = stream_->Write(queue_.Pieces(kMaxPieces));
  if (!written.ok()) {
    Fail(written.status());
    return false;
  }
  switch (written->state) {
    case IoState::kOk:
      Acknowledge(queue_.Consume(written->bytes));
      return true;
    case IoState::kWouldBlock:
      WaitUntilWritable();
      return false;
    case IoState::kClosed:
      Fail(absl::UnavailableError("the peer closed the link"));
      return false;
  }
  return false;
}

void LinkWriterState::Acknowledge(size_t frames) {
  for (; frames > 0; --frames) {
    Tell(tickets_.front(), /*dropped=*/false);
    tickets_.pop_front();
  }
}

void LinkWriterState::Tell(const Ticket& ticket, bool dropped) {
  const uint64_t written = dropped ? 0 : ticket.payload_bytes;
  compat::Send(self_, ticket.ack_to, FrameWritten{.payload_bytes = written, .dropped = dropped});
  if (ticket.counted_by != nullptr && ticket.counted_by->NoteWritten()) {
    compat::Send(self_, dispatcher_, RepliesWritten{});
  }
}

void LinkWriterState::WaitUntilWritable() {
  waiting_ = true;
  stream_->WhenWritable(
      [weak = compat::Weak<LinkWriter>(LinkWriter(self_))] {
        compat::SendFromOutside(weak.Lock(), WriteSocket{});
      },
      absl::InfiniteDuration());
}

void LinkWriterState::Fail(absl::Status status) {
  failed_ = true;
  queue_ = {};
  tickets_.clear();
  compat::Send(self_, dispatcher_, WritingFailed{std::move(status)});
}

void LinkWriterState::EndIfDone() {
  if (!closing_) return;
  if (!failed_ && !queue_.empty() && !LingerIsOver()) return;
  stream_->Shutdown();
  self_->quit();
}

bool LinkWriterState::LingerIsOver() { return compat::NowNs(self_) >= close_at_ns_; }

LinkWriter::behavior_type LinkWriterBehavior(LinkWriter::stateful_pointer<LinkWriterState> self,
                                             std::shared_ptr<ByteStream> stream,
                                             Dispatcher dispatcher, LinkWriterOptions options) {
  self->set_down_handler([self](const caf::down_msg&) { self->state.OnDispatcherDown(); });
  self->state.Start(std::move(stream), std::move(dispatcher), std::move(options));
  return {
      [self](const SendMessage& send) { self->state.OnSend(send); },
      [self](const WriteSocket&) { self->state.OnWritable(); },
      [self](const CloseLink& close) { self->state.OnClose(close); },
  };
}

}  // namespace superfluid
