#include "tools/bench/zmq_peer.h"

#include <utility>
#include <zmq.hpp>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "protocol/codec/tick_convert.h"
#include "protocol/linkw.pb.h"
#include "tools/bench/tick_contestants.h"

namespace superfluid::bench {
namespace {

namespace v8 = linkw::v8;

std::string Address(const std::string& path) { return absl::StrCat("ipc://", path); }

template <typename Proto>
zmq::message_t Encoded(const Proto& proto) {
  zmq::message_t message(proto.ByteSizeLong());
  proto.SerializeWithCachedSizesToArray(message.data<uint8_t>());
  return message;
}

template <typename Proto>
bool Decode(const zmq::message_t& message, Proto& proto) {
  return proto.ParseFromArray(message.data(), static_cast<int>(message.size()));
}

class ZmqTick : public Contestant {
 public:
  ZmqTick(std::string name, const std::string& path)
      : name_(std::move(name)), socket_(context_, zmq::socket_type::dealer) {
    socket_.connect(Address(path));
  }
  std::string name() const override { return name_; }

  absl::Status Begin(size_t lanes) {
    linkw::TickSubmit first = FirstTick(lanes);
    request_ = linkw::ToProto(first);
    v8::TickResult answer;
    if (absl::Status status = Ask(answer); !status.ok()) return status;
    absl::StatusOr<linkw::TickSubmit> next =
        NextTick(std::move(first), linkw::FromProto(std::move(answer)));
    if (!next.ok()) return next.status();
    request_ = linkw::ToProto(*next);
    return absl::OkStatus();
  }

  absl::Status RoundTrip() override {
    v8::TickResult answer;
    return Ask(answer);
  }

 private:
  absl::Status Ask(v8::TickResult& answer) {
    socket_.send(Encoded(request_), zmq::send_flags::none);
    zmq::message_t message;
    if (!socket_.recv(message) || !Decode(message, answer)) {
      return absl::UnavailableError("ZeroMQ gave no answer");
    }
    if (answer.status() == v8::OK) return absl::OkStatus();
    return absl::InternalError(answer.message());
  }

  const std::string name_;
  zmq::context_t context_{1};
  zmq::socket_t socket_;
  v8::TickSubmit request_;
};

}  // namespace

absl::Status ServeZmq(const std::string& path, TickServer& ticks) {
  zmq::context_t context(1);
  zmq::socket_t socket(context, zmq::socket_type::router);
  socket.bind(Address(path));
  while (true) {
    zmq::message_t peer;
    zmq::message_t message;
    if (!socket.recv(peer) || !socket.recv(message)) return absl::UnavailableError("ZeroMQ ended");
    v8::TickSubmit request;
    if (!Decode(message, request)) continue;
    const linkw::TickSubmit tick = linkw::FromProto(std::move(request));
    socket.send(peer, zmq::send_flags::sndmore);
    socket.send(Encoded(linkw::ToProto(ticks.Serve(tick.plan))), zmq::send_flags::none);
  }
}

absl::StatusOr<std::unique_ptr<Contestant>> ConnectZmq(std::string name, const std::string& path,
                                                       size_t lanes) {
  auto tick = std::make_unique<ZmqTick>(std::move(name), path);
  if (absl::Status status = tick->Begin(lanes); !status.ok()) return status;
  return tick;
}

}  // namespace superfluid::bench
