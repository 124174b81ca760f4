// Attaching the rings.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW;

// A memfd of this size with these seals.
OwnedFd MakeMemfd(uint64_t bytes, int seals) {
  OwnedFd fd(memfd_create("conformance", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Expect(fd.valid() && ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0 &&
             (seals == 0 || fcntl(fd.get(), F_ADD_SEALS, seals) == 0),
         "no memfd");
  return fd;
}

linkw::RingAttach Attach(const RingSpec& spec) {
  return {.ring_id = linkw::RingId(spec.id),
          .layout = {.ring_id = linkw::RingId(spec.id),
                     .kind = spec.id == 3 ? linkw::RingKind::kLogits : linkw::RingKind::kTokens,
                     .slot_bytes = spec.slot_bytes,
                     .slots = spec.slots}};
}

void ExpectAttached(Link& link, const RingSpec& spec) {
  link.SendFd(spec.id, MakeMemfd(*RingBytes(spec), kSealed).get());
  const auto ack = link.peer().Await<linkw::RingAck>(link.Send(Attach(spec)));
  ExpectEq(ack.ring_id, linkw::RingId(spec.id), "ring_id of RING_ACK");
  ExpectEq(ack.generation_base, uint64_t{1}, "generation_base of RING_ACK");
}

void AnyOrder(Context& context) {
  std::vector<RingSpec> rings = {kTokenInRing, kTokenOutRing, kLogitsRing};
  const auto less = [](const RingSpec& a, const RingSpec& b) { return a.id < b.id; };
  do {
    Link link(context);
    link.OpenFds();
    for (const RingSpec& ring : rings) ExpectAttached(link, ring);
  } while (std::next_permutation(rings.begin(), rings.end(), less));
}

void UnknownRing(Context& context) {
  Link link(context);
  link.OpenFds();
  for (const uint32_t id : {0u, 4u, 7u, ~0u}) {
    const auto start = Clock::now();
    link.ExpectRefused(link.Send(Attach({.id = id, .slot_bytes = 64, .slots = 4})),
                       {Status::kUnknownHandle}, "a ring that does not exist");
    Expect(Clock::now() - start < std::chrono::seconds(3),
           "an unknown ring waits for a descriptor");
  }
}

void OtherLayout(Context& context) {
  Link link(context);
  link.OpenFds();
  const auto refused = [&link](linkw::RingAttach attach, std::string_view what) {
    link.SendFd(1, MakeMemfd(*RingBytes(kTokenInRing) * 2, kSealed).get());
    link.ExpectRefused(link.Send(attach), {Status::kInvalidArgument}, what);
  };
  linkw::RingAttach attach = Attach(kTokenInRing);
  attach.layout.slots = 63;
  refused(attach, "63 slots");
  attach = Attach(kTokenInRing);
  attach.layout.slots = ~0u;
  refused(attach, "4 billion slots");
  attach = Attach(kTokenInRing);
  attach.layout.slot_bytes += 8;
  refused(attach, "a larger slot");
  attach = Attach(kTokenInRing);
  attach.layout.kind = linkw::RingKind::kLogits;
  refused(attach, "the kind of another ring");
  attach = Attach(kTokenInRing);
  attach.layout.ring_id = linkw::kLogitsRing;
  refused(attach, "the id of another ring in the layout");
  ExpectAttached(link, kTokenInRing);
}

void WrongMemory(Context& context) {
  for (const RingSpec& ring : {kTokenInRing, kTokenOutRing, kLogitsRing}) {
    Link link(context);
    link.OpenFds();
    const uint64_t bytes = *RingBytes(ring);
    const auto refused = [&link, &ring](const OwnedFd& fd, std::string_view what) {
      link.SendFd(ring.id, fd.get());
      link.ExpectRefused(link.Send(Attach(ring)), {Status::kInvalidArgument}, what);
    };
    refused(MakeMemfd(bytes, 0), "a memfd without seals");
    refused(MakeMemfd(bytes, F_SEAL_GROW), "a memfd that can shrink");
    refused(MakeMemfd(bytes, F_SEAL_SHRINK), "a memfd that can grow");
    refused(MakeMemfd(bytes - 1, kSealed), "a memfd that is a byte too small");
    refused(MakeMemfd(0, kSealed), "an empty memfd");
    refused(OwnedFd(open("/dev/zero", O_RDWR | O_CLOEXEC)), "a device");
    ExpectAttached(link, ring);
  }
}

void ReadOnlyOutRing(Context& context) {
  Link link(context);
  link.OpenFds();
  for (const RingSpec& ring : {kTokenOutRing, kLogitsRing}) {
    link.SendFd(ring.id, MakeMemfd(*RingBytes(ring), kSealed | F_SEAL_WRITE).get());
    link.ExpectRefused(link.Send(Attach(ring)),
                       {Status::kInvalidArgument, Status::kPermissionDenied},
                       "a ring that the worker cannot write");
  }
}

void LargerMemory(Context& context) {
  Link link(context);
  link.OpenFds();
  link.SendFd(1, MakeMemfd(*RingBytes(kTokenInRing) + 4096, kSealed).get());
  link.peer().Await<linkw::RingAck>(link.Send(Attach(kTokenInRing)));
}

void WorkerLeavesRingOneAlone(Context& context) {
  Driver driver(context);
  const std::vector<std::byte> before(driver.in_segment().data(),
                                      driver.in_segment().data() + driver.in_segment().size());
  const Tokens prompt = driver.Prompt(16);
  const linkw::TokenSpan span = driver.Put(prompt);
  const size_t slot = size_t{span.slot} * kTokenInRing.slot_bytes;
  std::vector<std::byte> after_put(driver.in_segment().data(),
                                   driver.in_segment().data() + driver.in_segment().size());
  Lane lane = driver.DecodeLane(kNew, {}, 8);
  lane.input = span;
  driver.Run(lane);
  Expect(std::equal(after_put.begin(), after_put.end(), driver.in_segment().data()),
         "ring 1 changed during a tick");
  Expect(before != after_put && slot < after_put.size(), "the suite wrote no token");
}

}  // namespace

void AddRingChecks(std::vector<Check>& checks) {
  checks.push_back({"RING-1 RING-2", "rings in any order", AnyOrder});
  checks.push_back({"RING-1", "memory that is larger than the ring", LargerMemory});
  checks.push_back({"RING-3 ERR-1", "an unknown ring", UnknownRing});
  checks.push_back({"RING-4 RING-6 ERR-1", "another layout", OtherLayout});
  checks.push_back({"RING-5 RING-6 ERR-1", "memory that will not do", WrongMemory});
  checks.push_back({"RING-5", "an out ring that cannot be written", ReadOnlyOutRing});
  checks.push_back(
      {"RING-8", "the worker does not write ring 1", WorkerLeavesRingOneAlone, {"tick"}});
}

}  // namespace superfluid::conformance
