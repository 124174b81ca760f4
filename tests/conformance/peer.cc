#include "tests/conformance/peer.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/codec/codec.h"
#include "tests/conformance/check.h"
#include "tests/conformance/show.h"
#include "tests/conformance/wire.h"

namespace superfluid::conformance {
namespace {

int MillisUntil(Clock::time_point until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 3'600'000));
}

bool IsTelemetry(const Received& received) {
  return std::holds_alternative<linkw::Telemetry>(received.message);
}

// Payloads that begin with a status, if it is not OK.
void CheckStatus(const SeenHeader& header, std::string_view payload) {
  constexpr char link_closed = 20;
  constexpr char last = 21;
  switch (static_cast<linkw::MessageType>(header.type)) {
    case linkw::MessageType::kError:
    case linkw::MessageType::kTickResult:
    case linkw::MessageType::kMatchResult:
    case linkw::MessageType::kSeedGrant:
    case linkw::MessageType::kStateOpAccepted:
    case linkw::MessageType::kStrategyGrant:
    case linkw::MessageType::kBufAlloced:
      if (payload.size() < 2 || payload[0] != 0x08) return;
      Expect(payload[1] >= 0 && payload[1] <= last && payload[1] != link_closed,
             absl::StrCat("[ERR-4] a status with the number ", static_cast<int>(payload[1])));
      return;
    default:
      return;
  }
}

}  // namespace

Peer::Peer(OwnedFd socket, Clock::time_point until) : socket_(std::move(socket)), until_(until) {}

bool Peer::Wait(short events, Clock::time_point until) {
  pollfd polled{.fd = socket_.get(), .events = events, .revents = 0};
  const int ready = poll(&polled, 1, MillisUntil(std::min(until, until_)));
  if (ready < 0 && errno != EINTR) Fail(absl::StrCat("poll: ", std::strerror(errno)));
  return ready > 0;
}

void Peer::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      // The worker closed the link: what it said before that is there to read.
      while (!closed_ && Wait(POLLIN, Clock::now())) ReadSome();
      return;
    }
    if (!Wait(deaf_ ? POLLOUT : POLLOUT | POLLIN, until_)) FailWaiting("room to send");
    if (!deaf_ && Wait(POLLIN, Clock::now())) ReadSome();
  }
}

uint64_t Peer::SendFrame(uint16_t type, std::string_view payload) {
  ledger_.Sent(next_seq_, static_cast<linkw::MessageType>(type));
  SendBytes(FrameBytes({.type = type, .seq = next_seq_}, payload));
  return next_seq_++;
}

std::string Peer::Encode(const linkw::DriverMessage& message) {
  const linkw::EncodedMessage encoded = linkw::Serialize(message);
  ledger_.Sent(next_seq_, encoded.type);
  return FrameBytes({.type = static_cast<uint16_t>(encoded.type), .seq = next_seq_++},
                    encoded.payload);
}

uint64_t Peer::Send(const linkw::DriverMessage& message) {
  SendBytes(Encode(message));
  return next_seq_ - 1;
}

void Peer::ReadSome() {
  std::array<char, 65536> bytes{};
  const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    closed_ = true;  // reset: it closed with bytes of ours unread
    return;
  }
  if (count == 0) {
    closed_ = true;
    Expect(buffer_.empty(), "[FRAME-1] the worker closed the link inside a frame of its own");
    return;
  }
  buffer_.append(bytes.data(), static_cast<size_t>(count));
  DecodeAll();
}

void Peer::DecodeAll() {
  size_t at = 0;
  while (buffer_.size() - at >= kHeaderBytes) {
    const SeenHeader header = ReadHeader(std::string_view(buffer_).substr(at));
    Expect(header.magic == "SFLW", absl::StrCat("[FRAME-1] magic ", Show(header.magic)));
    Expect(header.crc_ok, "[FRAME-1] a header with a wrong checksum");
    Expect(
        header.payload_len <= PayloadMost(header.type, max_frame_),
        absl::StrCat("[FRAME-7] a payload of ", header.payload_len, " bytes, type ", header.type));
    const size_t size = kHeaderBytes + header.payload_len;
    if (buffer_.size() - at < size) break;
    Decode(std::string_view(buffer_).substr(at, size));
    at += size;
  }
  buffer_.erase(0, at);
}

void Peer::Decode(std::string_view frame) {
  const SeenHeader header = ReadHeader(frame);
  ExpectEq(header.version, kVersion, "[FRAME-1] version of a frame");
  ExpectEq(header.seq, last_seen_ + 1, "[FRAME-5] seq of the worker's frame");
  last_seen_ = header.seq;
  Expect(linkw::IsKnown(header.type), absl::StrCat("[FRAME-1] a frame of type ", header.type));
  absl::StatusOr<linkw::WorkerMessage> message = linkw::ParseWorkerMessage(
      static_cast<linkw::MessageType>(header.type), frame.substr(kHeaderBytes));
  if (!message.ok()) {
    Fail(absl::StrCat("[FRAME-1] type ", header.type,
                      " cannot be decoded: ", message.status().message()));
  }
  CheckStatus(header, frame.substr(kHeaderBytes));
  ledger_.Received(header.correlation, *message);
  inbox_.push_back({.version = header.version,
                    .seq = header.seq,
                    .correlation = header.correlation,
                    .message = *std::move(message)});
}

std::optional<Received> Peer::FromInbox(const Match& match) {
  const auto found = std::find_if(inbox_.begin(), inbox_.end(), match);
  if (found == inbox_.end()) return std::nullopt;
  Received received = std::move(*found);
  inbox_.erase(found);
  return received;
}

std::optional<Received> Peer::TakeWithin(const Match& match, absl::Duration patience) {
  const Clock::time_point until = Clock::now() + absl::ToChronoNanoseconds(patience);
  while (true) {
    if (std::optional<Received> received = FromInbox(match)) return received;
    if (closed_ || !socket_.valid() || !Wait(POLLIN, until)) return std::nullopt;
    ReadSome();
  }
}

Received Peer::Take(const Match& match, std::string_view what) {
  std::optional<Received> received = TakeWithin(match, absl::Hours(1));
  if (!received) FailWaiting(what);
  return *std::move(received);
}

Received Peer::Next() {
  return Take([](const Received& received) { return !IsTelemetry(received); }, "a frame");
}

void Peer::AwaitClosed() {
  while (!closed_) {
    if (!Wait(POLLIN, until_)) FailWaiting("the worker to close the link");
    ReadSome();
  }
}

void Peer::Listen(absl::Duration time) {
  const Clock::time_point until = Clock::now() + absl::ToChronoNanoseconds(time);
  while (Clock::now() < until) {
    if (closed_) {
      poll(nullptr, 0, MillisUntil(until));
    } else if (Wait(POLLIN, until)) {
      ReadSome();
    }
    if (Clock::now() >= until_) FailWaiting("the end of a pause");
  }
}

void Peer::FailUnexpected(const Received& received) const {
  Fail(absl::StrCat("the answer is ", Show(received.message)));
}

void Peer::FailWaiting(std::string_view what) const {
  std::string seen = absl::StrCat(closed_ ? "the link was closed" : "the time is up",
                                  ", waiting for ", View(what));
  for (const Received& received : inbox_) {
    if (IsTelemetry(received)) continue;
    absl::StrAppend(&seen, "; unasked: ", Show(received.message), " for ", received.correlation);
    if (seen.size() > 1000) break;
  }
  Fail(seen);
}

}  // namespace superfluid::conformance
