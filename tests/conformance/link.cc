#include "tests/conformance/link.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string_view>

namespace superfluid::conformance {
namespace {

std::string_view Bytes(const linkw::LinkToken& token) {
  return {reinterpret_cast<const char*>(token.data()), token.size()};
}

bool Among(Status status, Statuses statuses) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

std::pair<Status, std::string> OutcomeOf(const linkw::WorkerMessage& message) {
  return std::visit(
      [](const auto& content) -> std::pair<Status, std::string> {
        if constexpr (requires { content.status; }) return {content.status, content.message};
        return {Status::kOk, ""};
      },
      message);
}

bool IsFinal(const Received& received) {
  return !std::holds_alternative<linkw::TickEmit>(received.message) &&
         !std::holds_alternative<linkw::TranscribeSegment>(received.message) &&
         !std::holds_alternative<linkw::StateOpDone>(received.message);
}

}  // namespace

std::string Names(Statuses statuses) {
  std::string names;
  for (const Status status : statuses)
    absl::StrAppend(&names, names.empty() ? "" : " or ", Show(status));
  return names;
}

linkw::Hello MakeHello(linkw::Role role, std::vector<std::string> features) {
  return {.proto_versions = {8, 8},
          .client_name = "conformance",
          .role = role,
          .features = std::move(features)};
}

Link::Link(Context& context, linkw::Role role, std::vector<std::string> features)
    : context_(context), peer_(context.Connect(), context.until()) {
  ack_ = peer_.Await<linkw::HelloAck>(peer_.Send(MakeHello(role, std::move(features))));
  peer_.set_max_frame(ack_.limits.max_frame);
}

void Link::OpenFds() {
  fds_ = context_.Connect();
  Expect(send(fds_.get(), ack_.link_token.data(), ack_.link_token.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(Bytes(ack_.link_token).size()),
         "the token of the fds socket cannot be sent");
  fd_receiver_.emplace(fds_.get());
  // The two sockets are not ordered: the worker has this one for sure once it took something from
  // it.
  const Buffer probe = AttachBuffer(1);
  Outcome(Send(linkw::BufAlloc{.buf_id = probe.id, .len = 1}));
  Send(linkw::BufRelease{probe.id});
}

void Link::SendFd(uint64_t tag, int fd) {
  while (true) {
    const absl::StatusOr<IoState> sent = SendTaggedFd(fds_.get(), tag, fd);
    Expect(sent.ok(), "a descriptor cannot be sent");
    if (*sent == IoState::kOk) return;
    Expect(*sent == IoState::kWouldBlock, "the worker closed the fds socket");
    pollfd polled{.fd = fds_.get(), .events = POLLOUT, .revents = 0};
    poll(&polled, 1, 100);
    Expect(Clock::now() < context_.until(), "the worker reads no descriptors");
  }
}

void Link::SendFd(uint64_t tag, const Segment& segment) {
  const absl::StatusOr<OwnedFd> fd = segment.DuplicateFd();
  Expect(fd.ok(), "no descriptor left");
  SendFd(tag, fd->get());
}

TaggedFd Link::ReceiveFd() {
  while (true) {
    absl::StatusOr<FdReceiveResult> received = fd_receiver_->Receive();
    Expect(received.ok(), "[CHAN-9] the worker's message on fds is not as it should be");
    if (received->state == IoState::kOk) return *std::move(received->item);
    Expect(received->state == IoState::kWouldBlock, "the worker closed the fds socket");
    pollfd polled{.fd = fds_.get(), .events = POLLIN, .revents = 0};
    poll(&polled, 1, 100);
    Expect(Clock::now() < context_.until(), "no descriptor came from the worker");
  }
}

bool Link::FdsClosed() {
  pollfd polled{.fd = fds_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  while (Clock::now() < context_.until()) {
    if (poll(&polled, 1, 50) > 0 && (polled.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) {
      return true;
    }
  }
  return false;
}

Link::Buffer Link::AttachBuffer(uint64_t bytes) {
  absl::StatusOr<Segment> segment = Segment::Create(bytes, "conformance-buffer");
  Expect(segment.ok(), "no memory for a buffer");
  Buffer buffer{.id = NewBufId(), .segment = *std::move(segment)};
  SendFd(static_cast<uint64_t>(buffer.id), buffer.segment);
  Send(linkw::BufAttach{.buf_id = buffer.id, .len = bytes});
  return buffer;
}

uint64_t Link::AttachRing(const RingSpec& spec, const Segment& segment) {
  SendFd(spec.id, segment);
  return Send(linkw::RingAttach{
      .ring_id = linkw::RingId(spec.id),
      .layout = {.ring_id = linkw::RingId(spec.id),
                 .kind = spec.id == 3 ? linkw::RingKind::kLogits : linkw::RingKind::kTokens,
                 .slot_bytes = spec.slot_bytes,
                 .slots = spec.slots}});
}

linkw::Pong Link::Ping() { return peer_.Await<linkw::Pong>(Send(linkw::Ping{})); }

std::pair<Status, std::string> Link::Outcome(uint64_t seq) {
  return OutcomeOf(
      peer_
          .Take([seq](const Received& r) { return r.correlation == seq && IsFinal(r); },
                "an answer")
          .message);
}

void Link::ExpectRefused(uint64_t seq, Statuses statuses, std::string_view what) {
  const auto [status, text] = Outcome(seq);
  if (!Among(status, statuses)) {
    Fail(absl::StrCat(View(what), ": saw ", Show(status), " ", Show(text), ", expected ",
                      Names(statuses)));
  }
  Ping();
}

void Link::ExpectOk(uint64_t seq, std::string_view what) {
  const auto [status, text] = Outcome(seq);
  if (status != Status::kOk) {
    Fail(absl::StrCat(View(what), ": saw ", Show(status), " ", Show(text), ", expected OK"));
  }
}

void Link::ExpectSilent(uint64_t seq, std::string_view what) {
  Ping();
  Ping();
  for (const Received& received : peer_.inbox()) {
    if (received.correlation == seq) {
      Fail(absl::StrCat(View(what), ": saw ", Show(received.message), ", expected silence"));
    }
  }
}

linkw::StateSyncResult Link::Call(linkw::StateSyncCall call) {
  return peer_.Await<linkw::StateSyncResult>(SendCall(std::move(call)));
}

uint64_t Link::ExpectLinkError(Statuses statuses) {
  return conformance::ExpectLinkError(peer_, statuses);
}

uint64_t ExpectLinkError(Peer& peer, Statuses statuses) {
  peer.AwaitClosed();
  uint64_t correlation = 0;
  std::vector<linkw::Error> errors;
  for (const Received& received : peer.inbox()) {
    const auto* error = std::get_if<linkw::Error>(&received.message);
    if (error == nullptr || !error->fatal) continue;
    errors.push_back(*error);
    correlation = received.correlation;
  }
  Expect(!errors.empty(), "the link was closed without a fatal ERROR");
  Expect(errors.size() == 1, absl::StrCat(errors.size(), " fatal ERRORs, expected one"));
  if (!Among(errors[0].status, statuses)) {
    Fail(absl::StrCat("fatal ERROR with ", Show(errors[0].status), " ", Show(errors[0].message),
                      ", expected ", Names(statuses)));
  }
  Expect(!errors[0].message.empty(), "the fatal ERROR says nothing");
  return correlation;
}

void ExpectServing(Context& context) { Link(context, linkw::Role::kObserver).Ping(); }

}  // namespace superfluid::conformance
