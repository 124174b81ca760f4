#include "tools/bench/classic_peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "shm/owned_fd.h"
#include "tools/bench/listen.h"
#include "tools/bench/wire_client.h"

namespace superfluid::bench {
namespace {

class Connection {
 public:
  Connection(OwnedFd fd, TickServer& ticks) : fd_(std::move(fd)), ticks_(ticks) {}
  int fd() const { return fd_.get(); }

  // Reads what there is and answers it. False: the peer is gone.
  bool Serve() {
    const absl::Span<char> space = decoder_.Prepare();
    const ssize_t got = read(fd_.get(), space.data(), space.size());
    if (got <= 0) return false;
    decoder_.Commit(static_cast<size_t>(got));
    while (true) {
      absl::StatusOr<std::optional<linkw::Frame>> frame = decoder_.Next();
      if (!frame.ok()) return false;
      if (!frame->has_value()) return true;
      if (!AnswerFrame(**frame)) return false;
    }
  }

 private:
  bool AnswerFrame(const linkw::Frame& frame) {
    absl::StatusOr<linkw::DriverMessage> request =
        linkw::ParseDriverMessage(frame.type(), frame.payload);
    if (!request.ok()) return false;
    const linkw::EncodedMessage answer = linkw::Serialize(AnswerOf(*request));
    const absl::StatusOr<std::string> bytes =
        encoder_.Encode(answer.type, frame.header.seq, answer.payload);
    return bytes.ok() && WriteAll(fd_.get(), *bytes).ok();
  }

  linkw::WorkerMessage AnswerOf(const linkw::DriverMessage& request) {
    if (const auto* const tick = std::get_if<linkw::TickSubmit>(&request)) {
      return ticks_.Serve(tick->plan);
    }
    if (std::holds_alternative<linkw::Ping>(request)) return linkw::Pong{};
    return linkw::HelloAck{.capabilities_json = "{}"};
  }

  OwnedFd fd_;
  TickServer& ticks_;
  linkw::FrameDecoder decoder_;
  linkw::FrameEncoder encoder_;
};

}  // namespace

absl::Status ServeClassic(const std::string& path, TickServer& ticks) {
  const absl::StatusOr<OwnedFd> listener = ListenBlocking(path);
  if (!listener.ok()) return listener.status();
  std::vector<std::unique_ptr<Connection>> connections;
  while (true) {
    std::vector<pollfd> polled = {{listener->get(), POLLIN, 0}};
    for (const auto& connection : connections) polled.push_back({connection->fd(), POLLIN, 0});
    poll(polled.data(), polled.size(), -1);
    for (size_t i = polled.size() - 1; i > 0; --i) {
      if (polled[i].revents != 0 && !connections[i - 1]->Serve()) {
        connections.erase(connections.begin() + static_cast<ptrdiff_t>(i - 1));
      }
    }
    if (polled[0].revents == 0) continue;
    OwnedFd peer(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.get() >= 0)
      connections.push_back(std::make_unique<Connection>(std::move(peer), ticks));
  }
}

}  // namespace superfluid::bench
