#include "tools/bench/wire_client.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "protocol/transport/unix_connect.h"
#include "shm/fd_passing.h"

namespace superfluid::bench {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

absl::Status Closed(const char* how) {
  return absl::UnavailableError(absl::StrCat(how, ": ", std::strerror(errno)));
}

absl::Status Unexpected(const linkw::WorkerMessage& answer) {
  if (const auto* error = std::get_if<linkw::Error>(&answer)) {
    return absl::InternalError(absl::StrCat("refused: ", error->message));
  }
  return absl::InternalError("an answer of another kind");
}

}  // namespace

absl::StatusOr<OwnedFd> ConnectBlocking(const std::string& path) {
  const absl::Time end = absl::Now() + kPatience;
  while (true) {
    absl::StatusOr<OwnedFd> fd = ConnectUnix(path, kPatience);
    if (fd.ok()) {
      fcntl(fd->get(), F_SETFL, fcntl(fd->get(), F_GETFL) & ~O_NONBLOCK);
      return fd;
    }
    const bool early = absl::IsNotFound(fd.status()) || absl::IsUnavailable(fd.status());
    if (!early || absl::Now() > end) return fd.status();
    absl::SleepFor(absl::Milliseconds(10));
  }
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return Closed("cannot write");
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return absl::OkStatus();
}

absl::Status ReadAll(int fd, char* to, size_t size) {
  while (size > 0) {
    const ssize_t got = read(fd, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Closed("cannot read");
    to += got;
    size -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<WireClient>> WireClient::Connect(const std::string& path,
                                                                linkw::Role role) {
  absl::StatusOr<OwnedFd> frames = ConnectBlocking(path);
  if (!frames.ok()) return frames.status();
  auto client = absl::WrapUnique(new WireClient(*std::move(frames)));
  if (absl::Status status = client->SayHello(role); !status.ok()) return status;
  const bool has_fds = client->hello_ack_.link_token != linkw::LinkToken{};
  if (role == linkw::Role::kDriver && has_fds) {
    if (absl::Status status = client->OpenFds(path); !status.ok()) return status;
  }
  return client;
}

absl::Status WireClient::SayHello(linkw::Role role) {
  absl::StatusOr<linkw::WorkerMessage> answer =
      Request(linkw::Hello{.client_name = "bench", .role = role});
  if (!answer.ok()) return answer.status();
  auto* const ack = std::get_if<linkw::HelloAck>(&*answer);
  if (ack == nullptr) return Unexpected(*answer);
  hello_ack_ = std::move(*ack);
  return absl::OkStatus();
}

absl::Status WireClient::OpenFds(const std::string& path) {
  absl::StatusOr<OwnedFd> fds = ConnectBlocking(path);
  if (!fds.ok()) return fds.status();
  fds_ = *std::move(fds);
  const linkw::LinkToken& token = hello_ack_.link_token;
  return WriteAll(fds_.get(), {reinterpret_cast<const char*>(token.data()), token.size()});
}

absl::Status WireClient::AttachRing(linkw::RingId id) {
  for (const linkw::RingSpec& spec : hello_ack_.limits.ring_specs) {
    if (spec.ring_id != id) continue;
    const uint64_t bytes = uint64_t{spec.slot_bytes} * spec.slots;
    absl::StatusOr<Segment> segment = Segment::Create(bytes, "bench-ring");
    if (!segment.ok()) return segment.status();
    const absl::StatusOr<OwnedFd> fd = segment->DuplicateFd();
    if (!fd.ok()) return fd.status();
    const auto sent = SendTaggedFd(fds_.get(), static_cast<uint64_t>(id), fd->get());
    if (!sent.ok()) return sent.status();
    if (absl::Status status = KeepRing(*std::move(segment), spec); !status.ok()) return status;
    const auto answer = Request(linkw::RingAttach{.ring_id = id, .layout = spec});
    if (!answer.ok()) return answer.status();
    if (!std::holds_alternative<linkw::RingAck>(*answer)) return Unexpected(*answer);
    return absl::OkStatus();
  }
  return absl::NotFoundError("the worker announced no such ring");
}

absl::Status WireClient::KeepRing(Segment segment, const linkw::RingSpec& spec) {
  if (spec.ring_id != linkw::kTokenInRing) {
    rings_.push_back(std::move(segment));
    return absl::OkStatus();
  }
  absl::StatusOr<RingWriter> writer =
      RingWriter::Open(std::move(segment), {.id = static_cast<uint32_t>(spec.ring_id),
                                            .slot_bytes = spec.slot_bytes,
                                            .slots = spec.slots});
  if (!writer.ok()) return writer.status();
  input_ = *std::move(writer);
  return absl::OkStatus();
}

absl::StatusOr<linkw::TokenSpan> WireClient::WriteInput(absl::Span<const linkw::Token> tokens) {
  const absl::StatusOr<SpanRef> span = input_->Write(0, tokens, 0);
  if (!span.ok()) return span.status();
  return linkw::TokenSpan{.ring_id = linkw::RingId{span->ring},
                          .slot = span->slot,
                          .generation = span->generation,
                          .offset = span->offset,
                          .count = span->count};
}

absl::Status WireClient::AttachTickMemory() {
  for (const linkw::RingId id : {linkw::kTokenInRing, linkw::kTokenOutRing, linkw::kLogitsRing}) {
    if (absl::Status status = AttachRing(id); !status.ok()) return status;
  }
  absl::StatusOr<DaemonControl> control = DaemonControl::Create();
  if (!control.ok()) return control.status();
  const absl::StatusOr<OwnedFd> fd = control->DuplicateFd();
  if (!fd.ok()) return fd.status();
  const auto sent = SendTaggedFd(fds_.get(), kControlTag, fd->get());
  if (!sent.ok()) return sent.status();
  control_ = *std::move(control);
  const auto answer = Request(linkw::ControlAttach{.bytes = kControlBytes});
  if (!answer.ok()) return answer.status();
  if (!std::holds_alternative<linkw::ControlAck>(*answer)) return Unexpected(*answer);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> WireClient::Send(linkw::MessageType type, std::string_view payload) {
  const uint64_t seq = next_seq_++;
  linkw::HeaderBytes header =
      linkw::EncodeHeader({.type = static_cast<uint16_t>(type),
                           .seq = seq,
                           .payload_len = static_cast<uint32_t>(payload.size())});
  std::array<iovec, 2> parts = {iovec{header.data(), header.size()},
                                iovec{const_cast<char*>(payload.data()), payload.size()}};
  const ssize_t wrote = writev(frames_.get(), parts.data(), parts.size());
  if (wrote < static_cast<ssize_t>(header.size())) return Closed("cannot write");
  payload.remove_prefix(static_cast<size_t>(wrote) - header.size());
  if (absl::Status status = WriteAll(frames_.get(), payload); !status.ok()) return status;
  return seq;
}

absl::StatusOr<uint64_t> WireClient::Send(const linkw::DriverMessage& message) {
  const linkw::EncodedMessage encoded = linkw::Serialize(message);
  return Send(encoded.type, encoded.payload);
}

absl::StatusOr<linkw::Frame> WireClient::Receive() {
  while (true) {
    absl::StatusOr<std::optional<linkw::Frame>> frame = decoder_.Next();
    if (!frame.ok()) return frame.status();
    if (frame->has_value()) {
      last_frame_bytes_ = linkw::kFrameHeaderBytes + (*frame)->payload.size();
      return **std::move(frame);
    }
    const absl::Span<char> space = decoder_.Prepare();
    const ssize_t got = read(frames_.get(), space.data(), space.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Closed("the worker closed the link");
    decoder_.Commit(static_cast<size_t>(got));
  }
}

absl::StatusOr<linkw::Frame> WireClient::ReceiveAnswer(uint64_t seq) {
  while (true) {
    absl::StatusOr<linkw::Frame> frame = Receive();
    if (!frame.ok()) return frame;
    if (frame->header.correlation == seq && frame->type() != linkw::MessageType::kTickEmit) {
      return frame;
    }
  }
}

absl::StatusOr<linkw::WorkerMessage> WireClient::Request(const linkw::DriverMessage& message) {
  const absl::StatusOr<uint64_t> seq = Send(message);
  if (!seq.ok()) return seq.status();
  const absl::StatusOr<linkw::Frame> frame = ReceiveAnswer(*seq);
  if (!frame.ok()) return frame.status();
  return linkw::ParseWorkerMessage(frame->type(), frame->payload);
}

absl::Status WireClient::Ping() {
  const absl::StatusOr<uint64_t> seq = Send(linkw::MessageType::kPing, {});
  if (!seq.ok()) return seq.status();
  const absl::StatusOr<linkw::Frame> frame = ReceiveAnswer(*seq);
  if (!frame.ok()) return frame.status();
  if (frame->type() == linkw::MessageType::kPong) return absl::OkStatus();
  return absl::InternalError("a PING was not answered with a PONG");
}

}  // namespace superfluid::bench
