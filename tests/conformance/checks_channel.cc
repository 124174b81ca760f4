// Which connection is what.

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/conformance/families.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

void SendAll(const OwnedFd& fd, std::string_view bytes) {
  Expect(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(bytes.size()),
         "a new connection takes no bytes");
}

bool ClosedInTime(Context& context, const OwnedFd& fd) {
  while (Clock::now() < context.until()) {
    pollfd polled{.fd = fd.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
    if (poll(&polled, 1, 100) > 0 && (polled.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) {
      return true;
    }
  }
  return false;
}

void FramesConnection(Context& context) {
  // The magic alone, and the rest of the HELLO later.
  Peer peer(context.Connect(), context.until());
  const uint64_t seq = peer.next_seq();
  const std::string hello = peer.Encode(MakeHello(linkw::Role::kObserver));
  peer.SendBytes(std::string_view(hello).substr(0, 4));
  peer.Listen(absl::Milliseconds(50));
  peer.SendBytes(std::string_view(hello).substr(4));
  peer.Await<linkw::HelloAck>(seq);
}

void FdsConnection(Context& context) {
  Link link(context);
  link.OpenFds();
  link.AttachBuffer(100);
  const Link::Buffer buffer = link.AttachBuffer(100);
  // It arrived, so its id is taken.
  link.ExpectRefused(link.Send(linkw::BufAlloc{.buf_id = buffer.id, .len = 100}),
                     {Status::kInvalidArgument}, "an id in use");
}

void TokenInPieces(Context& context) {
  Link link(context);
  const OwnedFd fds = context.Connect();
  const auto& token = link.ack().link_token;
  const std::string_view bytes(reinterpret_cast<const char*>(token.data()), token.size());
  SendAll(fds, bytes.substr(0, 7));
  link.peer().Listen(absl::Milliseconds(20));
  SendAll(fds, bytes.substr(7));
  const Segment segment = *Segment::Create(100, "conformance");
  Expect(SendTaggedFd(fds.get(), 7, segment.DuplicateFd()->get()).ok(),
         "no descriptor can be sent");
  const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(7), .len = 100});
  const uint64_t alloc = link.Send(linkw::BufAlloc{.buf_id = linkw::BufId(7), .len = 1});
  link.ExpectRefused(alloc, {Status::kInvalidArgument}, "an id in use");
  link.ExpectSilent(attach, "BUF_ATTACH");
}

void AnythingElse(Context& context) {
  Link driver(context);
  std::string wrong(16, '\0');
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), wrong,
                                   std::string(16, '\xff'), std::string(1000, 'a')}) {
    const OwnedFd fd = context.Connect();
    SendAll(fd, bytes);
    Expect(ClosedInTime(context, fd), "a connection that says " + Show(bytes) + " stays open");
  }
  driver.Ping();
}

void TokenOfAnEndedLink(Context& context) {
  linkw::LinkToken token{};
  {
    Link link(context);
    token = link.ack().link_token;
  }
  Link(context).Ping();  // so the first one has ended
  const OwnedFd fd = context.Connect();
  SendAll(fd, {reinterpret_cast<const char*>(token.data()), token.size()});
  Expect(ClosedInTime(context, fd), "the token of a link that has ended is taken");
}

void SecondFdsConnection(Context& context) {
  Link link(context);
  link.OpenFds();
  link.AttachBuffer(100);
  link.Ping();
  const OwnedFd second = context.Connect();
  const auto& token = link.ack().link_token;
  SendAll(second, {reinterpret_cast<const char*>(token.data()), token.size()});
  Expect(ClosedInTime(context, second), "a second fds connection stays open");
  const Link::Buffer buffer = link.AttachBuffer(100);
  link.ExpectRefused(link.Send(linkw::BufAlloc{.buf_id = buffer.id, .len = 1}),
                     {Status::kInvalidArgument}, "an id in use");
}

void SilentConnection(Context& context) {
  const OwnedFd silent = context.Connect();
  const OwnedFd half = context.Connect();
  SendAll(half, "SF");
  Peer encoder(context.Connect(), context.until());
  const std::string hello = encoder.Encode(MakeHello(linkw::Role::kDriver));
  const OwnedFd cut = context.Connect();
  SendAll(cut, std::string_view(hello).substr(0, hello.size() - 1));
  Link(context).Ping();
  Expect(ClosedInTime(context, silent), "a silent connection stays open");
  Expect(ClosedInTime(context, half), "a connection of two bytes stays open");
  Expect(ClosedInTime(context, cut), "a HELLO without its last byte stays open");
  Link(context).Ping();
}

void HalfHellos(Context& context) {
  Peer encoder(context.Connect(), context.until());
  const std::string hello = encoder.Encode(MakeHello(linkw::Role::kDriver));
  std::vector<OwnedFd> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(context.Connect());
    SendAll(strangers.back(), std::string_view(hello).substr(0, hello.size() - 1));
  }
  Link driver(context);
  driver.Ping();
  Link(context, linkw::Role::kObserver).Ping();
}

void SocketMode(Context& context) {
  struct stat status {};
  Expect(stat(context.worker().socket().c_str(), &status) == 0, "the socket cannot be looked at");
  ExpectEq(status.st_mode & 07777, 0600u, "the mode of the socket");
}

void InheritedSockets(Context& context) {
  if (!context.worker().ours()) Skip("this suite did not start the worker");
  std::array<int, 2> frames{};
  std::array<int, 2> fds{};
  Expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, frames.data()) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0,
         "no sockets");
  const OwnedFd frames_theirs(frames[1]);
  const OwnedFd fds_theirs(fds[1]);
  OwnedFd frames_ours(frames[0]);
  const OwnedFd fds_ours(fds[0]);
  std::vector<std::string> command = context.worker().command();
  // Numbers that no descriptor of this process has.
  command.insert(command.end(), {"--frames-fd", "100", "--fds-fd", "101"});
  Process process(command, context.worker().log(),
                  {{frames_theirs.get(), 100}, {fds_theirs.get(), 101}});
  Peer peer(std::move(frames_ours), context.until());
  const auto ack = peer.Await<linkw::HelloAck>(peer.Send(MakeHello(linkw::Role::kDriver)));
  Expect(ack.link_token == linkw::LinkToken{}, "there is a link token");
  const Segment segment = *Segment::Create(100, "conformance");
  Expect(SendTaggedFd(fds_ours.get(), 7, segment.DuplicateFd()->get()).ok(), "no descriptor sent");
  peer.Send(linkw::BufAttach{.buf_id = linkw::BufId(7), .len = 100});
  const uint64_t alloc = peer.Send(linkw::BufAlloc{.buf_id = linkw::BufId(7), .len = 1});
  ExpectEq(peer.Await<linkw::BufAlloced>(alloc).status, Status::kInvalidArgument, "an id in use");
}

}  // namespace

void AddChannelChecks(std::vector<Check>& checks) {
  checks.push_back({"CHAN-1", "a connection that starts with the magic", FramesConnection});
  checks.push_back({"CHAN-2", "a connection that starts with the link token", FdsConnection});
  checks.push_back({"CHAN-2", "a link token in pieces", TokenInPieces});
  checks.push_back({"CHAN-3", "connections that start with anything else", AnythingElse});
  checks.push_back({"CHAN-3", "the token of a link that has ended", TokenOfAnEndedLink});
  checks.push_back({"CHAN-4", "a second fds connection", SecondFdsConnection});
  checks.push_back({"CHAN-5", "connections that say nothing or half a HELLO", SilentConnection});
  checks.push_back({"CHAN-5", "a hundred with half a HELLO", HalfHellos});
  checks.push_back({"CHAN-6", "the mode of the socket", SocketMode});
  checks.push_back({"CHAN-8", "inherited sockets", InheritedSockets});
}

}  // namespace superfluid::conformance
