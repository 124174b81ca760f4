#include "protocol/client/link_client.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/client/link_connection.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"
#include "protocol/transport/socket_stream.h"
#include "protocol/transport/unix_connect.h"
#include "shm/io_state.h"
#include "shm/socket_fd_channel.h"

namespace superfluid::linkw {
namespace {

constexpr absl::Duration kConnectPause = absl::Milliseconds(20);
// How often a worker that does not answer HELLO is asked whether it still loads: for somebody who
// wants to know, and for an error that says so.
constexpr absl::Duration kTellPeriod = absl::Milliseconds(300);
constexpr absl::Duration kAskPeriod = absl::Seconds(2);

// Nobody listens yet: the worker has not come that far.
bool IsNotThereYet(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsUnavailable(status);
}

absl::StatusOr<OwnedFd> ConnectUntil(const std::string& path, bool wait, Deadline deadline) {
  while (true) {
    absl::StatusOr<OwnedFd> socket = ConnectUnix(path, deadline.left());
    if (socket.ok() || !wait || !IsNotThereYet(socket.status())) return socket;
    if (deadline.left() <= kConnectPause) return socket;
    absl::SleepFor(kConnectPause);
  }
}

// An answer of type T; an ERROR as the error that it is.
template <typename T>
absl::StatusOr<T> Expect(absl::StatusOr<WorkerMessage> answer) {
  if (!answer.ok()) return answer.status();
  if (auto* expected = std::get_if<T>(&*answer)) return std::move(*expected);
  return MakeStatus(Status::kInternal, absl::StrCat("the worker's answer is a ",
                                                    AbslView(MessageTypeName(TypeOf(*answer)))));
}

bool IsNone(const LinkToken& token) {
  return std::all_of(token.begin(), token.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

// ---- Setting up

absl::StatusOr<std::unique_ptr<LinkClient>> LinkClient::Connect(const std::string& socket_path,
                                                                LinkClientOptions options) {
  Deadline deadline = Deadline::After(options.connect_timeout);
  absl::StatusOr<OwnedFd> frames = ConnectUntil(socket_path, options.wait_for_listener, deadline);
  if (!frames.ok()) return frames.status();
  auto client = Introduce(*std::move(frames), std::move(options), deadline);
  if (!client.ok()) return client.status();
  absl::Status status = (*client)->OpenFds(socket_path, deadline);
  if (!status.ok()) return status;
  return client;
}

absl::StatusOr<std::unique_ptr<LinkClient>> LinkClient::Adopt(int frames_fd, int fds_fd,
                                                              LinkClientOptions options) {
  OwnedFd frames(frames_fd);
  OwnedFd fds(fds_fd);
  Deadline deadline = Deadline::After(options.connect_timeout);
  std::unique_ptr<FdChannel> channel;
  if (fds.valid()) {
    absl::StatusOr<std::unique_ptr<FdChannel>> made = MakeSocketFdChannel(std::move(fds));
    if (!made.ok()) return made.status();
    channel = *std::move(made);
  }
  auto client = Introduce(std::move(frames), std::move(options), deadline);
  if (client.ok()) (*client)->fds_ = std::move(channel);
  return client;
}

absl::StatusOr<std::unique_ptr<LinkClient>> LinkClient::Introduce(OwnedFd frames,
                                                                  LinkClientOptions options,
                                                                  Deadline& deadline) {
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = MakeSocketStream(std::move(frames));
  if (!stream.ok()) return stream.status();
  auto connection = std::make_shared<LinkConnection>(
      *std::move(stream), LinkConnection::Options{options.reply_buffer, options.call_timeout,
                                                  options.on_unsolicited, options.on_activity});
  auto client = absl::WrapUnique(new LinkClient(std::move(options), std::move(connection)));
  absl::Status status = client->Handshake(deadline);
  if (!status.ok()) return status;
  return client;
}

LinkClient::LinkClient(LinkClientOptions options, std::shared_ptr<LinkConnection> connection)
    : options_(std::move(options)), connection_(std::move(connection)) {}

LinkClient::~LinkClient() {
  if (fds_ != nullptr) fds_->Shutdown();
  connection_->Close();
}

absl::Status LinkClient::Handshake(Deadline& deadline) {
  Hello hello;
  hello.client_name = options_.client_name;
  hello.role = options_.role;
  hello.features = options_.features;
  absl::StatusOr<std::unique_ptr<ReplyStream>> answers = Start(hello);
  if (!answers.ok()) return WhyRefused(answers.status());
  absl::StatusOr<WorkerMessage> answer = AwaitAck(**answers, deadline);
  if (answer.ok() && std::holds_alternative<Pong>(*answer)) return absl::OkStatus();
  absl::StatusOr<HelloAck> ack = Expect<HelloAck>(std::move(answer));
  if (!ack.ok()) return WhyRefused(ack.status());
  if (ack->chosen_version != kProtoVersion) {
    return MakeStatus(Status::kVersionMismatch,
                      absl::StrCat("the worker chose protocol version ", ack->chosen_version,
                                   ", this client speaks ", kProtoVersion));
  }
  connection_->SetNegotiated(*ack);
  hello_ack_ = *std::move(ack);
  return absl::OkStatus();
}

// Returns what answers HELLO; an ERROR as the error that it is; or the Pong of a worker that loads,
// if that is enough. A worker that loads is asked again and again how far it is.
absl::StatusOr<WorkerMessage> LinkClient::AwaitAck(ReplyStream& answers, Deadline& deadline) {
  const bool tells = options_.on_loading != nullptr || options_.accept_loading;
  const absl::Duration period =
      tells ? kTellPeriod : std::min(kAskPeriod, options_.connect_timeout / 2);
  std::string loading;  // what there is to say about it
  while (true) {
    absl::StatusOr<WorkerMessage> answer =
        answers.Next(Deadline::After(std::min(deadline.left(), period)));
    if (answer.ok()) {
      if (const auto* error = std::get_if<Error>(&*answer)) return ToStatus(*error);
      // No Pong answers HELLO.
      if (std::holds_alternative<Pong>(*answer))
        return Expect<HelloAck>(std::move(answer)).status();
      return answer;
    }
    if (!absl::IsDeadlineExceeded(answer.status())) return answer;
    if (deadline.passed()) {
      return loading.empty() ? answer.status() : MakeStatus(Status::kDeadlineExceeded, loading);
    }
    // A link that ends meanwhile has an answer, or ends, above.
    const absl::StatusOr<Pong> pong = Expect<Pong>(Request(linkw::Ping{}, deadline.left()));
    if (!pong.ok() || pong->engine_state != EngineState::kLoading) continue;
    if (options_.accept_loading) return WorkerMessage(*pong);
    loading = absl::StrCat("the worker still loads its engine (", pong->load_permille / 10, " %)");
    if (options_.on_loading && options_.on_loading(*pong)) {
      deadline = Deadline::After(options_.connect_timeout);
    }
  }
}

// A worker that refuses a link before it has read HELLO answers none: its last words do.
absl::Status LinkClient::WhyRefused(const absl::Status& status) {
  if (FromAbsl(status) != Status::kLinkClosed) return status;
  const absl::Status last_words = connection_->CloseForLastWords();
  if (last_words.ok()) return status;
  return MakeStatus(FromAbsl(last_words), absl::StrCat("the worker closed the link: ",
                                                       AbslView(StatusName(FromAbsl(last_words))),
                                                       ": ", last_words.message()));
}

// A driver's second connection, which begins with the token.
absl::Status LinkClient::OpenFds(const std::string& socket_path, Deadline deadline) {
  if (options_.role != Role::kDriver || IsNone(hello_ack_.link_token)) return absl::OkStatus();
  absl::StatusOr<OwnedFd> socket = ConnectUnix(socket_path, deadline.left());
  if (!socket.ok()) return socket.status();
  const LinkToken& token = hello_ack_.link_token;
  // A socket that is new has room for 16 bytes.
  if (::send(socket->get(), token.data(), token.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(token.size())) {
    return MakeStatus(Status::kLinkClosed, "the worker does not take the fds connection");
  }
  absl::StatusOr<std::unique_ptr<FdChannel>> channel = MakeSocketFdChannel(*std::move(socket));
  if (!channel.ok()) return channel.status();
  fds_ = *std::move(channel);
  return absl::OkStatus();
}

// ---- Calls

absl::StatusOr<uint64_t> LinkClient::Send(const DriverMessage& message) {
  return connection_->Send(message);
}

absl::StatusOr<std::unique_ptr<ReplyStream>> LinkClient::Start(const DriverMessage& message) {
  absl::StatusOr<LinkConnection::Request> request = connection_->Open(message);
  if (!request.ok()) return request.status();
  return std::make_unique<ReplyStream>(connection_, std::move(request->answers), request->seq);
}

absl::StatusOr<WorkerMessage> LinkClient::Request(const DriverMessage& message) {
  return Request(message, options_.call_timeout);
}

absl::StatusOr<WorkerMessage> LinkClient::Request(const DriverMessage& message,
                                                  absl::Duration timeout) {
  const Deadline deadline = Deadline::After(timeout);
  absl::StatusOr<std::unique_ptr<ReplyStream>> answers = Start(message);
  if (!answers.ok()) return answers.status();
  absl::StatusOr<WorkerMessage> answer = (*answers)->Next(deadline);
  if (!answer.ok()) return answer;
  if (const auto* error = std::get_if<Error>(&*answer)) return ToStatus(*error);
  return answer;
}

absl::StatusOr<std::unique_ptr<TranscriptionStream>> LinkClient::Transcribe(
    const linkw::Transcribe& request) {
  absl::StatusOr<std::unique_ptr<ReplyStream>> replies = Start(StateSyncRequest{request});
  if (!replies.ok()) return replies.status();
  return std::make_unique<TranscriptionStream>(connection_, *std::move(replies));
}

absl::StatusOr<Pong> LinkClient::Ping() { return Expect<Pong>(Request(linkw::Ping{})); }

absl::StatusOr<StateSyncReply> LinkClient::Call(StateSyncCall call) {
  absl::StatusOr<StateSyncResult> result =
      Expect<StateSyncResult>(Request(StateSyncRequest{std::move(call)}));
  if (!result.ok()) return result.status();
  if (result->status != Status::kOk) return MakeStatus(result->status, result->message);
  return std::move(result->reply);
}

absl::StatusOr<Drained> LinkClient::Drain(const DrainRequest& request) {
  const absl::Duration timeout =
      request.deadline_ms == 0 ? absl::InfiniteDuration()
                               : absl::Milliseconds(request.deadline_ms) + options_.call_timeout;
  return Expect<Drained>(Request(request, timeout));
}

// ---- Descriptors

absl::Status LinkClient::SendFd(uint64_t tag, int fd) {
  if (fds_ == nullptr) {
    return MakeStatus(Status::kFailedPrecondition, "this link has no fds connection");
  }
  absl::MutexLock lock(&fds_mutex_);
  absl::StatusOr<IoState> state = fds_->Send(tag, fd);
  if (!state.ok()) return state.status();
  switch (*state) {
    case IoState::kOk:
      return absl::OkStatus();
    case IoState::kWouldBlock:
      return MakeStatus(Status::kBusy, "the worker does not take the descriptors sent before");
    case IoState::kClosed:
      break;
  }
  return MakeStatus(Status::kLinkClosed, "the worker closed the fds connection");
}

absl::Status LinkClient::link_status() const { return connection_->status(); }

}  // namespace superfluid::linkw
