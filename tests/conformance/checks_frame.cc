// Framing: what the bytes of a frame must be.

#include <string>
#include <vector>

#include "tests/conformance/families.h"
#include "tests/conformance/link.h"
#include "tests/conformance/wire.h"

namespace superfluid::conformance {
namespace {

constexpr uint16_t kPing = static_cast<uint16_t>(linkw::MessageType::kPing);

// On a link of its own: a frame with this header (its seq is filled in unless it is set) is a link
// error, and the frames behind it have no effect.
void ExpectBadFrame(Context& context, Header header, Statuses statuses,
                    std::string_view payload = {}) {
  Link link(context, linkw::Role::kObserver);
  if (header.seq == 0) header.seq = link.peer().next_seq();
  if (header.type == 0) header.type = kPing;
  std::string bytes = FrameBytes(header, payload);
  bytes += FrameBytes({.type = kPing, .seq = link.peer().next_seq() + 1}, "");
  link.peer().SendBytes(bytes);
  link.ExpectLinkError(statuses);
  Expect(std::holds_alternative<linkw::Error>(link.peer().inbox().back().message),
         "a frame after the fatal ERROR");
}

void OrdinarySession(Context& context) {
  Link link(context);
  for (int i = 0; i < 3; ++i) link.Ping();
  const uint64_t ping = link.Send(linkw::Ping{});
  const uint64_t capabilities = link.SendCall(linkw::Capabilities{});
  const uint64_t bad = link.Send(linkw::RingAttach{.ring_id = linkw::RingId(99)});
  link.peer().Await<linkw::Pong>(ping);
  link.peer().Await<linkw::StateSyncResult>(capabilities);
  link.ExpectRefused(bad, {Status::kUnknownHandle}, "a ring that does not exist");
}

void WrongMagic(Context& context) {
  for (const char* magic : {"SFLX", "sflw", "WLFS"}) {
    ExpectBadFrame(context, {.magic = magic}, {Status::kProtocolError});
  }
}

void WrongChecksum(Context& context) {
  for (const uint32_t bit : {0u, 7u, 16u, 31u}) {
    ExpectBadFrame(context, {.crc_flip = 1u << bit}, {Status::kProtocolError});
  }
}

void WrongVersion(Context& context) {
  for (const uint16_t version : {uint16_t{0}, uint16_t{7}, uint16_t{9}, uint16_t{0xffff}}) {
    ExpectBadFrame(context, {.version = version}, {Status::kVersionMismatch});
  }
}

void WrongVersionOfHello(Context& context) {
  Peer peer(context.Connect(), context.until());
  peer.UseSeq(linkw::MessageType::kHello);
  peer.SendBytes(FrameBytes({.version = 7, .type = 1, .seq = 1}, ""));
  ExpectLinkError(peer, {Status::kVersionMismatch});
}

void WrongSeq(Context& context) {
  // The HELLO of these links was 1, so the next is 2.
  for (const uint64_t seq : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 40, ~uint64_t{0}}) {
    ExpectBadFrame(context, {.seq = seq}, {Status::kProtocolError});
  }
}

void FirstSeqIsOne(Context& context) {
  Peer peer(context.Connect(), context.until());
  peer.UseSeq(linkw::MessageType::kHello);
  const std::string hello = peer.Encode(MakeHello(linkw::Role::kObserver));  // its seq is 2
  peer.SendBytes(hello);
  ExpectLinkError(peer, {Status::kProtocolError});
}

void TooLarge(Context& context) {
  struct Case {
    linkw::MessageType type;
    uint32_t most;
  };
  const uint32_t max_frame = context.facts().ack.limits.max_frame;
  for (const Case& c :
       {Case{linkw::MessageType::kPing, 65'536}, Case{linkw::MessageType::kBufAttach, 65'536},
        Case{linkw::MessageType::kTickSubmit, 262'144},
        Case{linkw::MessageType::kStateSyncRequest, max_frame},
        Case{static_cast<linkw::MessageType>(0x0777), max_frame},
        Case{static_cast<linkw::MessageType>(0x8777), max_frame}}) {
    for (const uint32_t size : {c.most + 1, 0xffffffffu}) {
      Link link(context, linkw::Role::kObserver);
      // The header alone: the worker must not wait for what can never be right.
      link.peer().SendBytes(FrameBytes({.type = static_cast<uint16_t>(c.type),
                                        .seq = link.peer().next_seq(),
                                        .payload_len = size},
                                       ""));
      link.ExpectLinkError({Status::kProtocolError});
    }
  }
}

void AsLargeAsAllowed(Context& context) {
  Link link(context, linkw::Role::kObserver);
  // One unknown field that fills the payload up to the last byte.
  const std::string field = BytesField(60, std::string(65'536 - 5, 'x'));
  ExpectEq(field.size(), size_t{65'536}, "the payload");
  link.peer().Await<linkw::Pong>(link.peer().SendFrame(kPing, field));
}

void BytesOneByOne(Context& context) {
  Peer peer(context.Connect(), context.until());
  const uint64_t hello = peer.next_seq();
  std::string bytes = peer.Encode(MakeHello(linkw::Role::kObserver));
  const uint64_t ping = peer.next_seq();
  bytes += peer.Encode(linkw::Ping{});
  for (const char c : bytes) peer.SendBytes({&c, 1});
  peer.Await<linkw::HelloAck>(hello);
  peer.Await<linkw::Pong>(ping);
}

void OddPieces(Context& context) {
  Link link(context);
  std::string bytes;
  std::vector<uint64_t> pings;
  for (int i = 0; i < 50; ++i) {
    pings.push_back(link.peer().next_seq());
    bytes += link.peer().Encode(linkw::Ping{});
  }
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = 1 + context.Random(90);
    link.peer().SendBytes(std::string_view(bytes).substr(at, size));
    at += size;
  }
  for (const uint64_t ping : pings) link.peer().Await<linkw::Pong>(ping);
}

void ManyInOneWrite(Context& context) {
  Link link(context);
  std::string bytes;
  std::vector<uint64_t> pings;
  for (int i = 0; i < 200; ++i) {
    pings.push_back(link.peer().next_seq());
    bytes += link.peer().Encode(linkw::Ping{});
  }
  link.peer().SendBytes(bytes);
  for (const uint64_t ping : pings) link.peer().Await<linkw::Pong>(ping);
}

void EndsInsideAFrame(Context& context) {
  for (const size_t cut : {size_t{1}, size_t{16}, size_t{31}, size_t{40}}) {
    Link link(context);
    const std::string bytes = FrameBytes({.type = kPing, .seq = link.peer().next_seq()},
                                         BytesField(60, std::string(100, 'x')));
    link.peer().SendBytes(std::string_view(bytes).substr(0, cut));
    link.peer().HangUp();
    ExpectServing(context);
  }
}

void EndsInsideAHello(Context& context) {
  Peer peer(context.Connect(), context.until());
  const std::string hello = peer.Encode(MakeHello(linkw::Role::kDriver));
  peer.SendBytes(std::string_view(hello).substr(0, hello.size() - 1));
  peer.HangUp();
  ExpectServing(context);
}

void ToldWhere(Context& context) {
  Link link(context, linkw::Role::kObserver);
  link.Ping();
  link.peer().SendBytes(
      FrameBytes({.type = kPing, .seq = link.peer().next_seq() + 5, .crc_flip = 0}, ""));
  link.ExpectLinkError({Status::kProtocolError});
  for (const Received& received : link.peer().inbox()) {
    const auto* error = std::get_if<linkw::Error>(&received.message);
    if (error == nullptr) continue;
    const std::string text = error->message + error->detail;
    Expect(text.find("seq") != std::string::npos, "an ERROR without the seq: " + Show(text));
  }
}

}  // namespace

void AddFrameChecks(std::vector<Check>& checks) {
  checks.push_back({"FRAME-1 FRAME-6 ERR-2 ERR-4", "an ordinary session", OrdinarySession});
  checks.push_back({"FRAME-2 FRAME-16", "a wrong magic", WrongMagic});
  checks.push_back({"FRAME-3 FRAME-16", "a wrong checksum", WrongChecksum});
  checks.push_back({"FRAME-4 FRAME-16", "a wrong version", WrongVersion});
  checks.push_back({"FRAME-4", "a HELLO in a frame of another version", WrongVersionOfHello});
  checks.push_back({"FRAME-5 FRAME-16", "a seq that does not follow", WrongSeq});
  checks.push_back({"FRAME-5", "a first frame with the seq 2", FirstSeqIsOne});
  checks.push_back({"FRAME-7 FRAME-16", "a payload_len over the limit of its type", TooLarge});
  checks.push_back({"FRAME-7 FRAME-14", "a payload of exactly the limit", AsLargeAsAllowed});
  checks.push_back({"FRAME-8", "bytes one by one", BytesOneByOne});
  checks.push_back({"FRAME-8", "frames in odd pieces", OddPieces});
  checks.push_back({"FRAME-8", "many frames in one write", ManyInOneWrite});
  checks.push_back({"FRAME-15", "a link that ends inside a frame", EndsInsideAFrame});
  checks.push_back({"FRAME-15", "a link that ends inside its HELLO", EndsInsideAHello});
  checks.push_back({"FRAME-16", "a link error says where", ToldWhere});
}

}  // namespace superfluid::conformance
