#include "tests/tools/ctl/fake_worker.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "protocol/codec/codec.h"
#include "protocol/frames/frame_decoder.h"
#include "shm/fd_passing.h"

namespace superfluid::ctl {
namespace {

constexpr char kTokenByte = 0x42;
constexpr size_t kTokenBytes = sizeof(linkw::LinkToken);

linkw::HelloAck UsualHello() {
  linkw::HelloAck hello;
  hello.capabilities_json = R"({"name":"fake","version":"1"})";
  hello.limits.max_frame = linkw::kDefaultMaxFrame;
  hello.limits.max_transcriptions = 4;
  hello.link_token.fill(static_cast<uint8_t>(kTokenByte));
  return hello;
}

// A socket's path is short: a test's own folder may not be.
std::string MakeFolder() {
  std::string folder = "/tmp/superfluidctl-XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

OwnedFd Listen(const std::string& path) {
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(listen(fd.get(), 8), 0);
  return fd;
}

std::string ReadSome(int fd, size_t most) {
  std::string bytes(most, '\0');
  const ssize_t got = recv(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

// Tells a frames connection from an fds connection.
std::string ReadFirstBytes(int fd) {
  std::string bytes;
  while (bytes.size() < kTokenBytes) {
    const std::string part = ReadSome(fd, kTokenBytes - bytes.size());
    if (part.empty()) break;
    bytes += part;
  }
  return bytes;
}

}  // namespace

void FakeLink::Send(const linkw::WorkerMessage& message, uint64_t correlation) {
  const linkw::EncodedMessage encoded = linkw::Serialize(message);
  const std::lock_guard lock(mutex_);
  const absl::StatusOr<std::string> frame =
      encoder_.Encode(encoded.type, correlation, encoded.payload);
  ASSERT_TRUE(frame.ok()) << frame.status();
  std::string_view rest = *frame;
  while (!rest.empty()) {
    const ssize_t sent = send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0) return;  // the client went away: its business
    rest.remove_prefix(static_cast<size_t>(sent));
  }
}

void FakeLink::Close() { shutdown(fd(), SHUT_RDWR); }

void FakeLink::AwaitBytes() {
  pollfd poll_fd = {.fd = fd(), .events = POLLIN, .revents = 0};
  poll(&poll_fd, 1, -1);
}

FakeWorker::FakeWorker(Handler handler)
    : hello(UsualHello()),
      handler_(std::move(handler)),
      folder_(MakeFolder()),
      path_(folder_ + "/w"),
      listener_(Listen(path_)),
      acceptor_([this] { Accept(); }) {}

FakeWorker::~FakeWorker() {
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_sockets_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& connection : connections_) connection.join();
  std::filesystem::remove_all(folder_);
}

void FakeWorker::Accept() {
  while (true) {
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) return;
    {
      const std::lock_guard lock(mutex_);
      ++connects_;
      changed_.notify_all();
    }
    if (on_connect) {
      FakeLink link(std::move(socket));
      if (on_connect(link)) continue;
      socket = link.TakeSocket();
    }
    std::string first_bytes = ReadFirstBytes(socket.get());
    const std::lock_guard lock(mutex_);
    if (first_bytes == std::string(kTokenBytes, kTokenByte)) {
      fds_ = std::move(socket);
      changed_.notify_all();
      continue;
    }
    open_sockets_.push_back(socket.get());
    connections_.emplace_back(&FakeWorker::Serve, this, std::move(socket), std::move(first_bytes));
  }
}

void FakeWorker::Serve(OwnedFd socket, std::string first_bytes) {
  FakeLink link(std::move(socket));
  linkw::FrameDecoder decoder;
  std::string bytes = std::move(first_bytes);
  while (!bytes.empty()) {
    decoder.Append(bytes);
    while (true) {
      absl::StatusOr<std::optional<linkw::Frame>> frame = decoder.Next();
      ASSERT_TRUE(frame.ok()) << frame.status();
      if (!frame->has_value()) break;
      absl::StatusOr<linkw::DriverMessage> message =
          linkw::ParseDriverMessage((*frame)->type(), (*frame)->payload);
      ASSERT_TRUE(message.ok()) << message.status();
      Handle(link, (*frame)->header.seq, *message);
    }
    bytes = ReadSome(link.fd(), linkw::FrameDecoder::kReadBytes);
  }
  const std::lock_guard lock(mutex_);
  open_sockets_.erase(std::find(open_sockets_.begin(), open_sockets_.end(), link.fd()));
  ++disconnects_;
  changed_.notify_all();
}

void FakeWorker::Handle(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    changed_.notify_all();
  }
  if (std::holds_alternative<linkw::Hello>(message)) {
    std::visit([&](const auto& answer) { link.Send(answer, seq); }, hello);
  } else if (std::holds_alternative<linkw::Ping>(message)) {
    if (on_ping) on_ping(link);
    link.Send(pong, seq);
  } else {
    handler_(link, seq, message);
  }
}

linkw::Transcribe FakeWorker::WaitForTranscribe() {
  return std::get<linkw::Transcribe>(WaitFor<linkw::StateSyncRequest>().call);
}

void FakeWorker::WaitForConnections(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, count] { return connects_ >= count; });
}

void FakeWorker::WaitForDisconnect() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return disconnects_ > 0; });
}

int FakeWorker::WaitForFds() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return fds_.valid(); });
  return fds_.get();
}

void FakeWorker::SendFd(uint64_t tag, int fd) {
  const absl::StatusOr<IoState> sent = SendTaggedFd(WaitForFds(), tag, fd);
  EXPECT_TRUE(sent.ok() && *sent == IoState::kOk);
}

std::pair<uint64_t, OwnedFd> FakeWorker::ReceiveFd() {
  const int fd = WaitForFds();
  TaggedFdReceiver receiver(fd);
  while (true) {
    pollfd poll_fd = {.fd = fd, .events = POLLIN, .revents = 0};
    poll(&poll_fd, 1, -1);
    absl::StatusOr<FdReceiveResult> received = receiver.Receive();
    EXPECT_TRUE(received.ok()) << received.status();
    if (!received.ok()) return {};
    if (received->item.has_value()) return {received->item->tag, std::move(received->item->fd)};
  }
}

const linkw::Transcribe* AsTranscribe(const linkw::DriverMessage& message) {
  const auto* request = std::get_if<linkw::StateSyncRequest>(&message);
  return request == nullptr ? nullptr : std::get_if<linkw::Transcribe>(&request->call);
}

}  // namespace superfluid::ctl
