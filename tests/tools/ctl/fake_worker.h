#ifndef SUPERFLUID_TESTS_TOOLS_CTL_FAKE_WORKER_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_FAKE_WORKER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/frames/frame.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"

namespace superfluid::ctl {

// The worker's end of one connection. Send and Close may be called from any thread.
class FakeLink {
 public:
  explicit FakeLink(OwnedFd socket) : socket_(std::move(socket)) {}
  void Send(const linkw::WorkerMessage& message, uint64_t correlation);
  void Close();
  // Waits until the client has sent something, and leaves it unread.
  void AwaitBytes();
  int fd() const { return socket_.get(); }
  OwnedFd TakeSocket() { return std::move(socket_); }

 private:
  std::mutex mutex_;
  OwnedFd socket_;
  linkw::FrameEncoder encoder_;
};

// A worker that does what a test says, on a real socket, with the real frames.
//
// It answers HELLO (see `hello`) and Ping by itself; everything else goes to the handler, on the
// connection's thread. Every message is kept, for WaitFor. Threads: each connection has its own.
class FakeWorker {
 public:
  using Handler =
      std::function<void(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message)>;

  explicit FakeWorker(Handler handler = [](FakeLink&, uint64_t, const linkw::DriverMessage&) {});
  ~FakeWorker();

  const std::string& path() const { return path_; }

  // The answers to HELLO and Ping: set them before a client connects.
  std::variant<linkw::HelloAck, linkw::Error> hello;
  linkw::Pong pong;
  std::function<void(FakeLink& link)> on_ping;  // before the answer; may be null
  // Called with each connection before a byte of it is read; if it returns true the connection is
  // closed. May be null.
  std::function<bool(FakeLink& link)> on_connect;

  // Waits for a message of type T and returns the first.
  template <typename T>
  T WaitFor() {
    std::unique_lock lock(mutex_);
    std::optional<T> found;
    changed_.wait(lock, [&] { return (found = Find<T>()).has_value(); });
    return *found;
  }
  linkw::Transcribe WaitForTranscribe();

  // Waits until `count` connections were made.
  void WaitForConnections(int count);

  // Waits until a client is gone.
  void WaitForDisconnect();

  // Waits for a descriptor on the fds connection.
  std::pair<uint64_t, OwnedFd> ReceiveFd();
  // Sends a descriptor on the fds connection; waits for there to be one.
  void SendFd(uint64_t tag, int fd);

  // What clients sent so far.
  std::vector<linkw::DriverMessage> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  int WaitForFds();
  void Accept();
  void Serve(OwnedFd socket, std::string first_bytes);
  void Handle(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message);

  template <typename T>
  std::optional<T> Find() const {
    for (const linkw::DriverMessage& message : messages_) {
      if (const T* found = std::get_if<T>(&message)) return *found;
    }
    return std::nullopt;
  }

  const Handler handler_;
  std::string folder_;
  std::string path_;
  OwnedFd listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<linkw::DriverMessage> messages_;
  std::vector<int> open_sockets_;
  int disconnects_ = 0;
  int connects_ = 0;
  OwnedFd fds_;
  std::vector<std::thread> connections_;
  std::thread acceptor_;
};

// The Transcribe in `message`, if it is one.
const linkw::Transcribe* AsTranscribe(const linkw::DriverMessage& message);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_FAKE_WORKER_H_
