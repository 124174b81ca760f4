// Buffers.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/families.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW;

OwnedFd MakeMemfd(uint64_t bytes, int seals) {
  OwnedFd fd(memfd_create("conformance", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Expect(fd.valid() && ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0 &&
             (seals == 0 || fcntl(fd.get(), F_ADD_SEALS, seals) == 0),
         "no memfd");
  return fd;
}

Status Alloc(Link& link, linkw::BufId id, uint64_t len) {
  return link.peer()
      .Await<linkw::BufAlloced>(link.Send(linkw::BufAlloc{.buf_id = id, .len = len}))
      .status;
}

void AllocGivesMemory(Context& context) {
  Link link(context);
  link.OpenFds();
  for (const uint64_t len : {uint64_t{1}, uint64_t{4096}, uint64_t{1'000'001}}) {
    const linkw::BufId id = link.NewBufId();
    const auto alloced =
        link.peer().Await<linkw::BufAlloced>(link.Send(linkw::BufAlloc{.buf_id = id, .len = len}));
    ExpectEq(alloced.status, Status::kOk, "status of BUF_ALLOCED");
    ExpectEq(alloced.buf_id, id, "buf_id of BUF_ALLOCED");
    ExpectEq(alloced.len, len, "len of BUF_ALLOCED");
    TaggedFd received = link.ReceiveFd();
    ExpectEq(received.tag, static_cast<uint64_t>(id), "tag of the descriptor");
    const int seals = fcntl(received.fd.get(), F_GET_SEALS);
    Expect(seals >= 0 && (seals & kSealed) == kSealed, "the memfd is not sealed");
    const absl::StatusOr<Segment> segment =
        Segment::Attach(std::move(received.fd), len, SegmentAccess::kReadWrite);
    Expect(segment.ok(), "the memfd cannot be mapped for writing");
    Expect(std::all_of(segment->data(), segment->data() + len,
                       [](std::byte byte) { return byte == std::byte{0}; }),
           "the memory is not zeroed");
    std::fill_n(segment->data(), len, std::byte{1});
  }
}

void AllocOfNothingOrTooMuch(Context& context) {
  Link link(context);
  link.OpenFds();
  ExpectEq(Alloc(link, linkw::BufId(1), 0), Status::kInvalidArgument, "BUF_ALLOC of 0 bytes");
  ExpectEq(Alloc(link, linkw::BufId(1), uint64_t{1} << 60), Status::kOutOfMemory,
           "BUF_ALLOC of 2^60 bytes");
  ExpectEq(Alloc(link, linkw::BufId(1), ~uint64_t{0}), Status::kOutOfMemory,
           "BUF_ALLOC of 2^64 - 1 bytes");
  ExpectEq(Alloc(link, linkw::BufId(1), 100), Status::kOk, "BUF_ALLOC of the id refused before");
}

void AllocWithoutFds(Context& context) {
  Link link(context);
  ExpectEq(Alloc(link, linkw::BufId(1), 100), Status::kFailedPrecondition,
           "BUF_ALLOC without an fds socket");
  link.OpenFds();
  link.AttachBuffer(1);
  link.Ping();
  ExpectEq(Alloc(link, linkw::BufId(1), 100), Status::kOk, "BUF_ALLOC with an fds socket");
}

void AttachIsSilent(Context& context) {
  Link link(context);
  link.OpenFds();
  const Segment segment = *Segment::Create(8192, "conformance");
  for (const uint64_t len : {uint64_t{1}, uint64_t{8191}, uint64_t{8192}}) {
    const linkw::BufId id = link.NewBufId();
    link.SendFd(static_cast<uint64_t>(id), segment);
    const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = id, .len = len});
    ExpectEq(Alloc(link, id, 1), Status::kInvalidArgument, "BUF_ALLOC of the attached id");
    link.ExpectSilent(attach, "BUF_ATTACH");
  }
}

void AttachOfWrongMemory(Context& context) {
  Link link(context);
  link.OpenFds();
  const auto refused = [&link](const OwnedFd& fd, uint64_t len, std::string_view what) {
    link.SendFd(5, fd.get());
    link.ExpectRefused(link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = len}),
                       {Status::kInvalidArgument}, what);
  };
  refused(MakeMemfd(100, 0), 100, "a memfd without seals");
  refused(MakeMemfd(100, F_SEAL_GROW), 100, "a memfd that can shrink");
  refused(MakeMemfd(100, kSealed), 101, "a len beyond the memfd");
  refused(MakeMemfd(100, kSealed), 0, "a len of 0");
  refused(OwnedFd(open("/dev/null", O_RDWR | O_CLOEXEC)), 100, "a device");
  link.SendFd(5, MakeMemfd(100, kSealed).get());
  link.ExpectRefused(link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = ~uint64_t{0}}),
                     {Status::kInvalidArgument}, "a len of 2^64 - 1");
  // The id was never taken by any of them.
  ExpectEq(Alloc(link, linkw::BufId(5), 1), Status::kOk, "BUF_ALLOC of the id refused before");
}

void IdInUse(Context& context) {
  Link link(context);
  link.OpenFds();
  ExpectEq(Alloc(link, linkw::BufId(5), 100), Status::kOk, "BUF_ALLOC");
  ExpectEq(Alloc(link, linkw::BufId(5), 100), Status::kInvalidArgument, "BUF_ALLOC again");
  link.SendFd(5, MakeMemfd(100, kSealed).get());
  link.ExpectRefused(link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100}),
                     {Status::kInvalidArgument}, "BUF_ATTACH of an id in use");
  ExpectEq(Alloc(link, linkw::BufId(5), 100), Status::kInvalidArgument, "BUF_ALLOC: it stays");
}

// What the request itself lacks comes before what the link has no room for.
void WrongBeforeTooLarge(Context& context) {
  Link link(context);
  link.OpenFds();
  ExpectEq(Alloc(link, linkw::BufId(5), 100), Status::kOk, "BUF_ALLOC");
  ExpectEq(Alloc(link, linkw::BufId(5), uint64_t{1} << 60), Status::kInvalidArgument,
           "BUF_ALLOC of 2^60 bytes for an id in use");
  const OwnedFd small = MakeMemfd(100, kSealed);
  link.SendFd(6, small.get());
  link.ExpectRefused(
      link.Send(linkw::BufAttach{.buf_id = linkw::BufId(6), .len = uint64_t{1} << 60}),
      {Status::kInvalidArgument}, "BUF_ATTACH of 2^60 bytes of a small memfd");
}

void RefusalsComeBeforeTheNextAlloc(Context& context) {
  Link link(context);
  link.OpenFds();
  for (int i = 0; i < 20; ++i) {
    link.SendFd(5, MakeMemfd(100, 0).get());
    const uint64_t attach = link.Send(linkw::BufAttach{.buf_id = linkw::BufId(5), .len = 100});
    ExpectEq(Alloc(link, linkw::BufId(6), 0), Status::kInvalidArgument, "BUF_ALLOC of 0 bytes");
    const auto refusal = link.peer().TakeWithin(
        [attach](const Received& r) { return r.correlation == attach; }, absl::ZeroDuration());
    Expect(refusal.has_value(), "BUF_ALLOC was answered before the BUF_ATTACH sent before it");
  }
}

void ReleaseIsIdempotent(Context& context) {
  Link link(context);
  link.OpenFds();
  ExpectEq(Alloc(link, linkw::BufId(5), 100), Status::kOk, "BUF_ALLOC");
  for (int i = 0; i < 3; ++i) {
    link.ExpectSilent(link.Send(linkw::BufRelease{linkw::BufId(5)}), "BUF_RELEASE");
  }
  link.ExpectSilent(link.Send(linkw::BufRelease{linkw::BufId(987654)}), "BUF_RELEASE of no buffer");
  ExpectEq(Alloc(link, linkw::BufId(5), 100), Status::kOk, "BUF_ALLOC of a released id");
}

// Sent in one piece, so that nothing but the order decides.
void ReleaseInOrder(Context& context) {
  Link link(context);
  link.OpenFds();
  std::string bytes;
  std::vector<uint64_t> allocs;
  for (int i = 0; i < 20; ++i) {
    allocs.push_back(link.peer().next_seq());
    bytes += link.peer().Encode(linkw::BufAlloc{.buf_id = linkw::BufId(5), .len = 100});
    bytes += link.peer().Encode(linkw::BufRelease{linkw::BufId(5)});
  }
  link.peer().SendBytes(bytes);
  for (const uint64_t seq : allocs) {
    ExpectEq(link.peer().Await<linkw::BufAlloced>(seq).status, Status::kOk,
             "BUF_ALLOC right behind BUF_RELEASE");
    link.ReceiveFd();
  }
}

void BuffersAreBounded(Context& context) {
  Link link(context);
  link.OpenFds();
  constexpr uint64_t many = 5000;
  for (uint64_t id = 1; id <= many; ++id) {
    const Status status = Alloc(link, linkw::BufId(id), 16);
    if (status == Status::kOk) {
      link.ReceiveFd();
      continue;
    }
    ExpectEq(status, Status::kOutOfMemory, "BUF_ALLOC beyond the bound");
    Expect(id > 16, "not even 16 buffers");
    return;
  }
  Fail("5000 buffers on one link");
}

void BuffersOfALink(Context& context) {
  {
    Link first(context);
    first.OpenFds();
    ExpectEq(Alloc(first, linkw::BufId(5), 100), Status::kOk, "BUF_ALLOC");
  }
  Link second(context);
  second.OpenFds();
  ExpectEq(Alloc(second, linkw::BufId(5), 100), Status::kOk, "BUF_ALLOC of another link's id");
}

}  // namespace

void AddBufferChecks(std::vector<Check>& checks) {
  checks.push_back({"BUF-1 CHAN-16", "memory made by the worker", AllocGivesMemory});
  checks.push_back(
      {"BUF-2 ERR-1", "BUF_ALLOC of nothing and of too much", AllocOfNothingOrTooMuch});
  checks.push_back({"BUF-3", "BUF_ALLOC without an fds socket", AllocWithoutFds});
  checks.push_back({"BUF-4", "BUF_ATTACH of whole and of part of a memfd", AttachIsSilent});
  checks.push_back({"BUF-5 ERR-1", "BUF_ATTACH of memory that will not do", AttachOfWrongMemory});
  checks.push_back({"BUF-6", "an id in use", IdInUse});
  checks.push_back({"BUF-12", "what is wrong comes before what is large", WrongBeforeTooLarge});
  checks.push_back(
      {"BUF-11", "refusals come before the next BUF_ALLOCED", RefusalsComeBeforeTheNextAlloc});
  checks.push_back({"BUF-7", "BUF_RELEASE once, twice, of nothing", ReleaseIsIdempotent});
  checks.push_back({"BUF-8 ALWAYS-2", "BUF_RELEASE keeps its place", ReleaseInOrder});
  checks.push_back({"ALWAYS-4", "buffers without end", BuffersAreBounded});
  checks.push_back({"BUF-9 END-1", "buffers end with their link", BuffersOfALink});
}

}  // namespace superfluid::conformance
