#ifndef SUPERFLUID_PROTOCOL_CLIENT_LINK_CONNECTION_H_
#define SUPERFLUID_PROTOCOL_CLIENT_LINK_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "protocol/client/reply_queue.h"
#include "protocol/client/reply_router.h"
#include "protocol/client/write_turn.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/messages.h"
#include "protocol/transport/byte_stream.h"

namespace superfluid::linkw {

// An ERROR frame as the error of the call that it answers: its status, its message and detail.
absl::Status ToStatus(const Error& error);

// The machinery behind LinkClient, shared with its streams: one frames socket, the thread that
// reads it, and who waits for what. Thread-safe. See LinkClient for flow control and errors.
//
// Cancels and Ping do not queue behind the rest: they go out at the next frame's boundary, and an
// ordinary frame starts only once the socket says that it has room. A socket says so while most of
// its buffer is free, so when it takes no more ordinary frames a short urgent one still fits.
class LinkConnection {
 public:
  struct Options {
    size_t reply_buffer = 256;
    absl::Duration write_timeout = absl::Seconds(30);  // then the link ends
    std::function<void(const WorkerMessage&)> on_unsolicited;
    std::function<void()> on_activity;  // a queue got an answer, or the link ended
  };

  struct Request {
    uint64_t seq = 0;
    std::shared_ptr<ReplyQueue> answers;
  };

  // `frames` must wait by blocking, as sockets do: while one thread waits for room, another may
  // write.
  LinkConnection(std::unique_ptr<ByteStream> frames, Options options);
  LinkConnection(const LinkConnection&) = delete;
  LinkConnection& operator=(const LinkConnection&) = delete;
  ~LinkConnection();  // as Close

  // Sends a message and returns its seq. Errors: kTooLarge, kLinkClosed.
  absl::StatusOr<uint64_t> Send(const DriverMessage& message);

  // The same, and collects the answers until Forget(seq).
  absl::StatusOr<Request> Open(const DriverMessage& message);
  void Forget(uint64_t seq) { router_.Forget(seq); }

  // What HELLO_ACK settled, for the frames to come.
  void SetNegotiated(const HelloAck& ack);

  // Ends the link and waits for the reader thread. Not from on_unsolicited. Any number of times.
  void Close();

  // OK while the link is up, else why it ended.
  absl::Status status() const { return router_.status(); }

  // Ends the link. Returns the fatal ERROR that the worker sent; OK if it sent none. Not from
  // on_unsolicited.
  absl::Status CloseForLastWords();

 private:
  absl::StatusOr<uint64_t> Write(const DriverMessage& message, Request* request);
  absl::StatusOr<uint64_t> WriteFrame(UnfinishedFrame& frame, Request* request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_turn_);
  absl::Status AwaitRoom(Deadline deadline);
  absl::Status WriteAll(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(write_turn_);
  void Read();
  absl::Status ReadSome();
  absl::Status DecodeAll();
  absl::Status Deliver(const Frame& frame);
  void Unsolicited(const absl::StatusOr<WorkerMessage>& message);
  void NoteActivity() const;
  void End(const absl::Status& why);
  absl::Status WorkerIsGone();
  absl::Status ClosedByWorker(std::string_view how) const;

  const Options options_;
  const std::unique_ptr<ByteStream> frames_;
  ReplyRouter router_;

  absl::Mutex ordinary_mutex_;  // held while an ordinary frame waits for room and goes out
  WriteTurn write_turn_;        // held while any frame goes out, so that frames are whole
  FrameEncoder encoder_ ABSL_GUARDED_BY(write_turn_);

  // The reader thread's own.
  FrameDecoder decoder_;
  absl::Status fatal_error_;  // the worker's last words

  absl::Mutex close_mutex_;
  std::thread reader_ ABSL_GUARDED_BY(close_mutex_);
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_LINK_CONNECTION_H_
