#include "protocol/client/link_connection.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "protocol/codec/codec.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"
#include "shm/io_state.h"

namespace superfluid::linkw {
namespace {

constexpr absl::Duration kLastWordsTimeout = absl::Seconds(1);

absl::Status Closed(std::string_view why) { return MakeStatus(Status::kLinkClosed, why); }

// What overtakes everything else, on the worker's side too.
bool IsUrgent(MessageType type) {
  return type == MessageType::kPing || type == MessageType::kTranscribeCancel ||
         type == MessageType::kOpCancel;
}

std::string Describe(const absl::Status& status) {
  return absl::StrCat(AbslView(StatusName(FromAbsl(status))), ": ", status.message());
}

}  // namespace

absl::Status ToStatus(const Error& error) {
  return MakeStatus(error.status, error.detail.empty()
                                      ? error.message
                                      : absl::StrCat(error.message, " (", error.detail, ")"));
}

LinkConnection::LinkConnection(std::unique_ptr<ByteStream> frames, Options options)
    : options_(std::move(options)),
      frames_(std::move(frames)),
      router_(options_.reply_buffer),
      reader_([this] { Read(); }) {}

LinkConnection::~LinkConnection() { Close(); }

void LinkConnection::Close() {
  End(Closed("the link was closed here"));
  absl::MutexLock lock(&close_mutex_);
  if (reader_.joinable()) reader_.join();
}

absl::Status LinkConnection::CloseForLastWords() {
  Close();
  return fatal_error_;  // the reader thread is gone
}

void LinkConnection::SetNegotiated(const HelloAck& ack) {
  const WriteTurnHolder turn(write_turn_, /*urgent=*/true);
  encoder_.SetVersion(ack.chosen_version);
  encoder_.SetMaxFrame(std::min(ack.limits.max_frame, kDefaultMaxFrame));
}

// The first reason stays; whoever waits gets it, and the reader's next read ends it.
void LinkConnection::End(const absl::Status& why) {
  router_.Close(why);
  frames_->Shutdown();
}

// ---- Writing

absl::StatusOr<uint64_t> LinkConnection::Send(const DriverMessage& message) {
  return Write(message, nullptr);
}

absl::StatusOr<LinkConnection::Request> LinkConnection::Open(const DriverMessage& message) {
  Request request;
  absl::StatusOr<uint64_t> seq = Write(message, &request);
  if (seq.ok()) return request;
  if (request.answers != nullptr) Forget(request.seq);
  return seq.status();
}

absl::StatusOr<uint64_t> LinkConnection::Write(const DriverMessage& message, Request* request) {
  UnfinishedFrame frame = SerializeFrame(message);
  if (IsUrgent(frame.type)) {
    const WriteTurnHolder turn(write_turn_, /*urgent=*/true);
    return WriteFrame(frame, request);
  }
  // One at a time waits for room, so that what it finds is still there when it has the turn. Its
  // time begins then: behind others that get through it waits for them, not for a dead worker.
  absl::MutexLock lock(&ordinary_mutex_);
  absl::Status status = AwaitRoom(Deadline::After(options_.write_timeout));
  if (!status.ok()) return status;
  const WriteTurnHolder turn(write_turn_, /*urgent=*/false);
  return WriteFrame(frame, request);
}

// The queue is in place before the frame goes out: the answer may be quick.
absl::StatusOr<uint64_t> LinkConnection::WriteFrame(UnfinishedFrame& frame, Request* request) {
  absl::Status status = router_.status();
  if (!status.ok()) return status;
  const uint64_t seq = encoder_.next_seq();
  status = encoder_.Finish(frame.type, 0, frame.bytes);
  if (!status.ok()) return status;
  if (request != nullptr) *request = {seq, router_.Open(seq)};
  status = WriteAll(frame.bytes);
  if (!status.ok()) return status;
  return seq;
}

absl::Status LinkConnection::AwaitRoom(Deadline deadline) {
  frames_->WhenWritable([] {}, deadline.left());
  // It returns when the patience is over too.
  if (!deadline.passed()) return absl::OkStatus();
  End(Closed("the worker takes no more messages"));
  return router_.status();
}

// The worker has `write_timeout` for each piece that it takes: a slow one is not a dead one.
absl::Status LinkConnection::WriteAll(std::string_view bytes) {
  Deadline deadline = Deadline::After(options_.write_timeout);
  while (!bytes.empty()) {
    const absl::StatusOr<IoResult> result = frames_->Write(absl::MakeConstSpan(&bytes, 1));
    if (!result.ok()) {
      End(Closed(absl::StrCat("cannot write: ", result.status().message())));
      return router_.status();
    }
    if (result->state == IoState::kClosed) return WorkerIsGone();
    bytes.remove_prefix(result->bytes);
    if (result->bytes > 0) deadline = Deadline::After(options_.write_timeout);
    if (result->state == IoState::kOk) continue;
    const absl::Duration patience = deadline.left();
    if (patience <= absl::ZeroDuration()) {  // a frame was cut, perhaps: there is no way back
      End(Closed("the worker takes no more messages"));
      return router_.status();
    }
    frames_->WhenWritable([] {}, patience);
  }
  return absl::OkStatus();
}

// The reader finds what the worker said last, unless a stream that nobody reads holds it up.
absl::Status LinkConnection::WorkerIsGone() {
  router_.AwaitClosed(Deadline::After(kLastWordsTimeout));
  End(Closed("the worker closed the link"));
  return router_.status();
}

// ---- Reading

void LinkConnection::Read() {
  absl::Status status;
  while (status.ok()) {
    status = ReadSome();
    if (status.ok()) status = DecodeAll();
  }
  End(status);
  NoteActivity();
}

absl::Status LinkConnection::ReadSome() {
  const absl::Span<char> space = decoder_.Prepare();
  const absl::StatusOr<IoResult> result = frames_->Read(space);
  if (!result.ok()) {
    return ClosedByWorker(absl::StrCat("cannot read: ", result.status().message()));
  }
  switch (result->state) {
    case IoState::kOk:
      decoder_.Commit(result->bytes);
      break;
    case IoState::kWouldBlock:
      frames_->WhenReadable([] {});
      break;
    case IoState::kClosed:
      return ClosedByWorker(decoder_.at_boundary() ? "the worker closed the link"
                                                   : "the worker closed the link inside a frame");
  }
  return absl::OkStatus();
}

// What it said before counts more than how the link ended: a worker that closes before it has read
// all resets the connection.
absl::Status LinkConnection::ClosedByWorker(std::string_view how) const {
  if (fatal_error_.ok()) return Closed(how);
  return LinkClosedAfter(FromAbsl(fatal_error_),
                         absl::StrCat("the worker closed the link: ", Describe(fatal_error_)));
}

absl::Status LinkConnection::DecodeAll() {
  while (true) {
    absl::StatusOr<std::optional<Frame>> frame = decoder_.Next();
    if (!frame.ok()) {
      return Closed(absl::StrCat("the worker sent a bad frame: ", frame.status().message()));
    }
    if (!frame->has_value()) return absl::OkStatus();
    absl::Status status = Deliver(**frame);
    if (!status.ok()) return status;
  }
}

// What is of no concern to this client (a type of a later version, a late answer) is dropped.
absl::Status LinkConnection::Deliver(const Frame& frame) {
  if (!IsKnown(frame.header.type)) return absl::OkStatus();
  absl::StatusOr<WorkerMessage> message = ParseWorkerMessage(frame.type(), frame.payload);
  if (!message.ok() && IsLinkError(message.status())) {
    return Closed(absl::StrCat("the worker sent a bad message at byte ", frame.offset, ": ",
                               message.status().message()));
  }
  if (message.ok()) {
    if (const auto* ack = std::get_if<HelloAck>(&*message)) {
      decoder_.SetVersion(ack->chosen_version);
    } else if (const auto* error = std::get_if<Error>(&*message); error && error->fatal) {
      fatal_error_ = ToStatus(*error);
    }
  }
  if (frame.header.correlation == 0) {
    Unsolicited(message);
  } else if (auto queue = router_.Find(frame.header.correlation); queue != nullptr) {
    queue->Push(std::move(message));
    NoteActivity();
  }
  return absl::OkStatus();
}

void LinkConnection::NoteActivity() const {
  if (options_.on_activity) options_.on_activity();
}

void LinkConnection::Unsolicited(const absl::StatusOr<WorkerMessage>& message) {
  if (message.ok() && options_.on_unsolicited) options_.on_unsolicited(*message);
}

}  // namespace superfluid::linkw
