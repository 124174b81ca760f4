// The fds socket: descriptors, tags, and messages that wait for them.

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

constexpr int kSlow = 60;

// 8 bytes, and any number of descriptors on the first of them.
void SendRaw(int socket, uint64_t tag, const std::vector<int>& fds) {
  std::array<char, 8> bytes{};
  std::memcpy(bytes.data(), &tag, sizeof tag);
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  std::array<char, CMSG_SPACE(16 * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  Expect(sendmsg(socket, &message, MSG_NOSIGNAL) == 8, "sendmsg on fds");
}

// The buffer is there: its id is taken.
void ExpectTaken(Link& link, linkw::BufId id) {
  link.ExpectRefused(link.Send(linkw::BufAlloc{.buf_id = id, .len = 1}), {Status::kInvalidArgument},
                     "BUF_ALLOC of the id of an attached buffer");
}

Segment MakeSegment(uint64_t bytes) { return *Segment::Create(bytes, "conformance"); }

void FdAfterMessage(Context& context) {
  Link link(context);
  link.OpenFds();
  const Segment segment = MakeSegment(100);
  const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  const uint64_t behind = link.SendCall(linkw::Capabilities{});
  link.Ping();  // overtakes
  link.peer().Listen(absl::Milliseconds(100));
  Expect(link.peer().inbox().empty(), "what was sent behind the waiting message was answered");
  link.SendFd(5, segment);
  link.peer().Await<linkw::StateSyncResult>(behind);
  ExpectTaken(link, linkw::BufId(5));
  link.ExpectSilent(attach, "BUF_ATTACH");
}

void FdBeforeMessage(Context& context) {
  Link link(context);
  link.OpenFds();
  const Segment segment = MakeSegment(100);
  link.SendFd(5, segment);
  link.peer().Listen(absl::Milliseconds(50));
  link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  ExpectTaken(link, linkw::BufId(5));
}

void CancelsOvertake(Context& context) {
  Link link(context);
  link.OpenFds();
  link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  linkw::Transcribe transcribe;
  transcribe.audio =
      linkw::AudioBuffer{.buf_id = linkw::BufId(5), .length = 100, .format = linkw::EncodedFile{}};
  const uint64_t waiting = link.SendCall(transcribe);
  link.Send(linkw::TranscribeCancel{waiting});
  link.Send(linkw::OpCancel{linkw::OpHandle(12345)});
  link.Ping();
  link.SendFd(5, MakeSegment(100));
  const auto [status, text] = link.Outcome(waiting);
  const Status expected =
      link.facts().Has("transcribe") ? Status::kCancelled : Status::kUnsupported;
  Expect(status == expected || status == Status::kCancelled,
         "a request cancelled while it waited: " + Show(status) + " " + text);
}

void PingsBehindAllThatMayWait(Context& context) {
  Link link(context);
  link.OpenFds();
  link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  uint64_t last = 0;
  for (int i = 0; i < 255; ++i) last = link.SendCall(linkw::Capabilities{});
  link.Ping();  // overtakes
  link.SendFd(5, MakeSegment(100));
  link.peer().Await<linkw::StateSyncResult>(last);
}

void FdsSocketEnds(Context& context) {
  Link link(context);
  link.OpenFds();
  const auto start = Clock::now();
  const uint64_t waiting = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  link.Ping();
  SendRaw(link.fds(), 6, {});
  Expect(link.FdsClosed(), "a message without a descriptor leaves the fds socket open");
  link.ExpectRefused(waiting, {Status::kFailedPrecondition}, "what waited for its descriptor");
  link.ExpectRefused(link.Send(linkw::BufAttach{.buf_id = linkw::BufId(6), .len = 100}),
                     {Status::kFailedPrecondition}, "BUF_ATTACH without an fds socket");
  const std::chrono::duration<double> waited = Clock::now() - start;
  Expect(waited.count() < 4.5, "a message waited for a descriptor that could not come");
}

void ReverseOrder(Context& context) {
  constexpr uint64_t kMany = 100;
  Link link(context);
  link.OpenFds();
  const Segment segment = MakeSegment(100);
  for (uint64_t tag = 1; tag <= kMany; ++tag) link.SendFd(tag, segment);
  for (uint64_t tag = kMany; tag >= 1; --tag) {
    link.Send(linkw::BufAttach{.buf_id = linkw::BufId(tag), .len = 100});
  }
  for (uint64_t tag = 1; tag <= kMany; ++tag) ExpectTaken(link, linkw::BufId(tag));
}

void OneOfManyNeverComes(Context& context) {
  Link link(context);
  link.OpenFds();
  const Segment segment = MakeSegment(100);
  for (uint64_t tag = 2; tag <= 10; ++tag) link.SendFd(tag, segment);
  const uint64_t lost = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(1), .len = 100});
  for (uint64_t tag = 2; tag <= 10; ++tag) {
    link.Send(linkw::BufAttach{.buf_id = linkw::BufId(tag), .len = 100});
  }
  link.ExpectRefused(lost, {Status::kFailedPrecondition}, "a descriptor that never came");
  for (uint64_t tag = 2; tag <= 10; ++tag) ExpectTaken(link, linkw::BufId(tag));
}

void FdNeverComes(Context& context) {
  Link link(context);
  link.OpenFds();
  const auto start = Clock::now();
  const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  const uint64_t behind = link.SendCall(linkw::Capabilities{});
  link.ExpectRefused(attach, {Status::kFailedPrecondition}, "a descriptor that never came");
  const std::chrono::duration<double> waited = Clock::now() - start;
  Expect(waited.count() >= 4.5, absl::StrCat("refused after ", waited.count(), " s, expected 5 s"));
  link.peer().Await<linkw::StateSyncResult>(behind);
}

void ForeignTag(Context& context) {
  Link link(context);
  link.OpenFds();
  link.SendFd(6, MakeSegment(100));  // not the one that is named
  const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  link.ExpectRefused(attach, {Status::kFailedPrecondition}, "a descriptor with another tag");
}

void WithoutDescriptor(Context& context) {
  Link link(context);
  link.OpenFds();
  SendRaw(link.fds(), 5, {});
  Expect(link.FdsClosed(), "a message without a descriptor leaves the fds socket open");
  link.Ping();
}

void TwoDescriptors(Context& context) {
  for (const size_t count : {size_t{2}, size_t{16}}) {
    Link link(context);
    link.OpenFds();
    const OwnedFd fd = *MakeSegment(100).DuplicateFd();
    SendRaw(link.fds(), 5, std::vector<int>(count, fd.get()));
    Expect(link.FdsClosed(), "a message with several descriptors leaves the fds socket open");
    link.Ping();
  }
}

void ManyUnclaimed(Context& context) {
  Link link(context);
  link.OpenFds();
  const Segment segment = MakeSegment(100);
  const auto start = Clock::now();
  // More than are kept: the worker makes room for the one that is named.
  for (uint64_t tag = 2000; tag < 2200; ++tag) link.SendFd(tag, segment);
  const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  link.Ping();
  for (uint64_t tag = 2200; tag < 2400; ++tag) {
    link.SendFd(tag, segment);
    if (tag % 50 == 0) link.Ping();  // a socket holds some hundred only
  }
  link.SendFd(5, segment);
  ExpectTaken(link, linkw::BufId(5));
  link.ExpectSilent(attach, "BUF_ATTACH");
  const std::chrono::duration<double> waited = Clock::now() - start;
  Expect(waited.count() < 4.5, "a named descriptor waited for those that nobody names");
}

void SameTagTwice(Context& context) {
  Link link(context);
  link.OpenFds();
  link.SendFd(5, MakeSegment(100));               // fits the first
  link.SendFd(5, MakeSegment(size_t{4096} * 3));  // fits the second
  link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  link.Send(linkw::BufRelease{linkw::BufId(5)});
  const uint64_t second =
      link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = size_t{4096} * 3});
  ExpectTaken(link, linkw::BufId(5));
  link.ExpectSilent(second, "the second BUF_ATTACH");
}

// The daemon dies while as much of it waits behind a descriptor as may: the next one gets the role,
// and does not wait for the descriptor.
void GoneWhileItIsNotRead(Context& context) {
  Link link(context);
  link.OpenFds();
  link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    bytes += link.peer().Encode(linkw::StateSyncRequest{linkw::Capabilities{}});
  }
  link.peer().SendBytes(bytes);
  link.peer().Listen(absl::Milliseconds(100));
  link.peer().HangUp();
  Link(context).Ping();
}

void HalfClosed(Context& context) {
  Link link(context);
  std::vector<uint64_t> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(link.SendCall(linkw::Capabilities{}));
  Expect(shutdown(link.peer().fd(), SHUT_WR) == 0, "the sending side cannot be shut down");
  for (const uint64_t call : calls) link.peer().Await<linkw::StateSyncResult>(call);
  link.peer().AwaitClosed();
  Link(context).Ping();
}

void AnyKindOfDescriptor(Context& context) {
  Link link(context);
  link.OpenFds();
  std::array<int, 2> ends{};
  Expect(pipe(ends.data()) == 0, "no pipe");
  const OwnedFd read_end(ends[0]);
  const OwnedFd write_end(ends[1]);
  for (const int fd : {read_end.get(), write_end.get(), link.fds(), link.peer().fd(), 0}) {
    link.SendFd(5, fd);
    link.ExpectRefused(link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100}),
                       {Status::kInvalidArgument, Status::kPermissionDenied},
                       "a descriptor that is no memfd");
  }
}

}  // namespace

void AddDescriptorChecks(std::vector<Check>& checks) {
  checks.push_back({"CHAN-11 CHAN-9", "a descriptor after its message", FdAfterMessage});
  checks.push_back({"CHAN-11 CHAN-16", "a descriptor before its message", FdBeforeMessage});
  checks.push_back({"CHAN-12 ALWAYS-2", "pings and cancels overtake what waits", CancelsOvertake});
  checks.push_back({"CHAN-13 ERR-1", "a descriptor that never comes", FdNeverComes});
  checks.push_back({"CHAN-13 CHAN-16", "a descriptor with a foreign tag", ForeignTag});
  checks.push_back({"CHAN-10", "a message without a descriptor", WithoutDescriptor});
  checks.push_back({"CHAN-10", "a message with several descriptors", TwoDescriptors});
  checks.push_back(
      {"CHAN-14", "descriptors that nobody names", ManyUnclaimed, {}, Pace::kAny, kSlow});
  checks.push_back({"CHAN-14 CHAN-11", "descriptors in reverse order", ReverseOrder});
  checks.push_back({"CHAN-13", "one descriptor of ten never comes", OneOfManyNeverComes});
  checks.push_back({"CHAN-12 PING-1", "a ping behind 256 that wait", PingsBehindAllThatMayWait});
  checks.push_back({"CHAN-17", "the fds socket ends", FdsSocketEnds});
  checks.push_back({"END-3 CHAN-12", "a daemon dies while it is not read", GoneWhileItIsNotRead});
  checks.push_back({"END-4", "a daemon that only sends no more", HalfClosed});
  checks.push_back({"CHAN-15", "two descriptors with one tag", SameTagTwice});
  checks.push_back({"ALWAYS-3 BUF-5", "descriptors of any kind", AnyKindOfDescriptor});
}

}  // namespace superfluid::conformance
