#ifndef SUPERFLUID_PROTOCOL_CLIENT_LINK_CLIENT_H_
#define SUPERFLUID_PROTOCOL_CLIENT_LINK_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "protocol/client/reply_stream.h"
#include "protocol/client/transcription_stream.h"
#include "protocol/messages/deadline.h"
#include "protocol/messages/messages.h"
#include "shm/fd_channel.h"
#include "shm/owned_fd.h"

namespace superfluid::linkw {

class LinkConnection;

struct LinkClientOptions {
  Role role = Role::kDriver;
  std::string client_name = "superfluid";
  std::vector<std::string> features;
  // From the first connect to HELLO_ACK; see on_loading.
  absl::Duration connect_timeout = absl::Seconds(10);
  // A worker that still loads its engine answers HELLO when it is done, and PING at once. Called
  // some times a second with what it says meanwhile, on the thread that connects; if it returns
  // true, connect_timeout counts anew from then on. Null: as if it returned false.
  std::function<bool(const Pong&)> on_loading;
  // The client is made also when the worker still loads: it can Ping then, and hello_ack() is
  // empty. For observers.
  bool accept_loading = false;
  // Retry until connect_timeout while nobody listens on the path yet.
  bool wait_for_listener = false;
  // For a call whose timeout is not given, and for a write that the worker does not take.
  absl::Duration call_timeout = absl::Seconds(30);
  // Replies kept per request for a reader that is late; see "Flow control".
  size_t reply_buffer = 256;
  // Called for what answers no request: Telemetry, and errors without a correlation. On the reader
  // thread: must be quick and must not call the client.
  std::function<void(const WorkerMessage&)> on_unsolicited;
  // Called when a stream got an answer, and when the link has ended: whoever polls its streams with
  // a deadline that has passed need not wait in any. Rules as for on_unsolicited.
  std::function<void()> on_activity;
};

// The daemon's end of Link W: a connection to one worker. It is the public client library, for who
// writes a serving daemon in C++; protocol/examples has programs to start from, and protocol/driver
// what travels in shared memory (rings, buffers, state ops). tools/python is the same for Python.
//
// Threads: every method may be called from any thread; calls do not wait for each other's answers.
// One thread of the client's own reads the link and hands each message to the request that its
// correlation names. Messages go out whole, in the order of the calls; cancels and Ping overtake
// those that wait.
//
// Flow control: nothing queues without bound. When a stream holds `reply_buffer` messages that its
// owner did not take, the client stops reading, and with it every call on this client waits, until
// they are taken or the stream is destroyed. The worker then pauses that peer's work.
//
// Errors: an ERROR frame that answers a call is that call's error, with the exact wire status
// (FromAbsl). DeadlineExceeded: no answer in time; a late one is dropped. Unavailable
// (kLinkClosed): the link ended, for every open and later call; the text says why, and LastWords
// has the status of the worker's fatal ERROR if it sent one. A bad frame or an undecodable payload
// ends the link too.
//
// Lifetime: the destructor ends the link and joins the thread. Streams may outlive the client.
class LinkClient {
 public:
  // Connects to a worker that listens on `socket_path` and introduces itself. A driver also opens
  // the fds connection. Errors: NotFound or Unavailable (nobody listens), DeadlineExceeded (the
  // text says if the worker still loads),
  // InvalidArgument (path too long), what the worker answers to HELLO (kBusy, kPermissionDenied,
  // kVersionMismatch), the errors of a link.
  static absl::StatusOr<std::unique_ptr<LinkClient>> Connect(const std::string& socket_path,
                                                             LinkClientOptions options = {});

  // The same over connected sockets, which the client owns from now on, also if it fails.
  // `fds_fd` may be -1: then SendFd fails.
  static absl::StatusOr<std::unique_ptr<LinkClient>> Adopt(int frames_fd, int fds_fd,
                                                           LinkClientOptions options = {});

  LinkClient(const LinkClient&) = delete;
  LinkClient& operator=(const LinkClient&) = delete;
  ~LinkClient();

  // What the worker said about itself.
  const HelloAck& hello_ack() const { return hello_ack_; }

  // Sends a message and keeps no track of answers. Returns its seq.
  absl::StatusOr<uint64_t> Send(const DriverMessage& message);

  // Sends a request and waits for its first answer.
  absl::StatusOr<WorkerMessage> Request(const DriverMessage& message);
  absl::StatusOr<WorkerMessage> Request(const DriverMessage& message, absl::Duration timeout);

  // Sends a request that may have several answers, such as a tick with its emits.
  absl::StatusOr<std::unique_ptr<ReplyStream>> Start(const DriverMessage& message);

  absl::StatusOr<std::unique_ptr<TranscriptionStream>> Transcribe(const linkw::Transcribe& request);

  absl::StatusOr<Pong> Ping();
  // A result whose status is not kOk is an error here; use Request to see it whole.
  absl::StatusOr<StateSyncReply> Call(StateSyncCall call);
  // Waits for `request.deadline_ms` longer than for other calls; for ever if that is 0.
  absl::StatusOr<Drained> Drain(const DrainRequest& request);

  // Passes a descriptor with its tag to the worker; the caller keeps its own. Errors:
  // FailedPrecondition (no fds connection), kBusy (the worker takes none), kLinkClosed, and as
  // SendTaggedFd.
  absl::Status SendFd(uint64_t tag, int fd);
  // For descriptors that the worker sends; nullptr if there is no fds connection. The client's:
  // one thread may receive from it as long as the client exists.
  FdChannel* fds() const { return fds_.get(); }

  // OK while the link is up, else why it ended.
  absl::Status link_status() const;

 private:
  LinkClient(LinkClientOptions options, std::shared_ptr<LinkConnection> connection);

  // A client whose handshake is done, over `frames`; it has no fds connection yet.
  static absl::StatusOr<std::unique_ptr<LinkClient>> Introduce(OwnedFd frames,
                                                               LinkClientOptions options,
                                                               Deadline& deadline);
  absl::Status Handshake(Deadline& deadline);
  absl::StatusOr<WorkerMessage> AwaitAck(ReplyStream& answers, Deadline& deadline);
  absl::Status WhyRefused(const absl::Status& status);
  absl::Status OpenFds(const std::string& socket_path, Deadline deadline);

  const LinkClientOptions options_;
  const std::shared_ptr<LinkConnection> connection_;
  HelloAck hello_ack_;
  std::unique_ptr<FdChannel> fds_;
  absl::Mutex fds_mutex_;  // one descriptor goes out at a time
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_LINK_CLIENT_H_
