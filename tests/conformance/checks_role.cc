// Drivers and observers.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

void SecondDriver(Context& context) {
  Link first(context);
  Peer second(context.Connect(), context.until());
  const auto start = Clock::now();
  const uint64_t hello = second.Send(MakeHello(linkw::Role::kDriver));
  ExpectEq(ExpectLinkError(second, {Status::kBusy}), hello, "correlation of the fatal ERROR");
  const std::chrono::duration<double> waited = Clock::now() - start;
  Expect(waited.count() >= 0.2 && waited.count() < 5,
         absl::StrCat("BUSY after ", waited.count(), " s, expected 0.25 s"));
  first.Ping();
}

void SecondDriverInTime(Context& context) {
  std::optional<Link> first;
  first.emplace(context);
  Peer second(context.Connect(), context.until());
  const uint64_t hello = second.Send(MakeHello(linkw::Role::kDriver));
  second.Listen(absl::Milliseconds(50));
  Expect(second.inbox().empty(), "the second driver is answered while the first is there");
  first.reset();
  second.Await<linkw::HelloAck>(hello);
}

void RoleIsFreeAgain(Context& context) {
  for (int i = 0; i < 10; ++i) Link(context).Ping();
}

void RoleIsFreeAfterLinkError(Context& context) {
  Link first(context);
  first.peer().SendBytes(std::string(32, 'x'));
  first.ExpectLinkError({Status::kProtocolError});
  Link(context).Ping();
}

void ManyObservers(Context& context) {
  Link driver(context);
  std::vector<std::unique_ptr<Link>> observers;
  observers.reserve(16);
  for (int i = 0; i < 16; ++i) {
    observers.push_back(std::make_unique<Link>(context, linkw::Role::kObserver));
  }
  for (const auto& observer : observers) observer->Ping();
  driver.Ping();
}

// The worker cleans up after links that have ended; until then it may be BUSY.
void AwaitRoom(Context& context) {
  while (true) {
    Peer peer(context.Connect(), context.until());
    peer.Send(MakeHello(linkw::Role::kObserver));
    if (std::holds_alternative<linkw::HelloAck>(peer.Next().message)) return;
  }
}

void LinksAreBounded(Context& context) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < 200; ++i) {
    peers.push_back(std::make_unique<Peer>(context.Connect(), context.until()));
    Peer& peer = *peers.back();
    const uint64_t hello = peer.Send(MakeHello(linkw::Role::kObserver));
    const Received received = peer.Next();
    if (std::holds_alternative<linkw::HelloAck>(received.message)) continue;
    const auto* error = std::get_if<linkw::Error>(&received.message);
    Expect(error != nullptr && error->status == Status::kBusy && error->fatal,
           absl::StrCat("HELLO ", hello, " is answered with ", Show(received.message)));
    peers.clear();
    AwaitRoom(context);
    return;
  }
}

void IdleObservers(Context& context) {
  std::vector<std::unique_ptr<Peer>> idle;
  for (int i = 0; i < 40; ++i) {
    idle.push_back(std::make_unique<Peer>(context.Connect(), context.until()));
    idle.back()->Send(MakeHello(linkw::Role::kObserver));
    if (!std::holds_alternative<linkw::HelloAck>(idle.back()->Next().message)) break;
  }
  Link(context).Ping();
  AwaitRoom(context);  // they stay connected, and are silent
}

void ObserverMayLook(Context& context) {
  Link observer(context, linkw::Role::kObserver);
  observer.Ping();
  ExpectEq(observer.Call(linkw::Capabilities{}).status, Status::kOk, "CAPABILITIES");
  observer.ExpectSilent(observer.Send(linkw::Telemetry{}), "TELEMETRY");
}

void ObserverMayNotTouch(Context& context) {
  Link driver(context);
  Link observer(context, linkw::Role::kObserver);
  linkw::Transcribe live;
  live.audio = linkw::AudioLive{{.sample_rate_hz = 16000, .channels = 1}};
  for (const linkw::DriverMessage& message : std::vector<linkw::DriverMessage>{
           linkw::RingAttach{.ring_id = linkw::kTokenInRing}, linkw::ControlAttach{.bytes = 8384},
           linkw::TickSubmit{}, linkw::MatchRequest{}, linkw::SeedAcquire{}, linkw::SeedRelease{},
           linkw::StateOpSubmit{linkw::Snapshot{}}, linkw::OpCancel{},
           linkw::StateSyncRequest{linkw::CreateSequence{}}, linkw::StateSyncRequest{live},
           linkw::TranscribeCancel{}, linkw::TranscribeAudio{}, linkw::StrategyRegister{},
           linkw::BufAlloc{.buf_id = linkw::BufId(1), .len = 1}, linkw::BufAttach{},
           linkw::BufRelease{}, linkw::DrainRequest{}}) {
    observer.ExpectRefused(observer.Send(message), {Status::kPermissionDenied},
                           linkw::MessageTypeName(linkw::TypeOf(message)));
  }
  driver.Ping();
}

void ObserverEndsAlone(Context& context) {
  Link driver(context);
  {
    Link observer(context, linkw::Role::kObserver);
    observer.peer().SendBytes(std::string(32, 'x'));
    observer.ExpectLinkError({Status::kProtocolError});
  }
  driver.Ping();
  { Link leaves(context, linkw::Role::kObserver); }
  driver.Ping();
  ExpectEq(driver.Call(linkw::Capabilities{}).status, Status::kOk, "CAPABILITIES");
}

}  // namespace

void AddRoleChecks(std::vector<Check>& checks) {
  checks.push_back({"ROLE-1", "a second driver is BUSY after 250 ms", SecondDriver});
  checks.push_back({"ROLE-2", "the first driver leaves in time", SecondDriverInTime});
  checks.push_back({"ROLE-3", "one driver after the other", RoleIsFreeAgain});
  checks.push_back(
      {"ROLE-3 ERR-3", "a driver after one with a link error", RoleIsFreeAfterLinkError});
  checks.push_back({"ROLE-4", "sixteen observers", ManyObservers});
  checks.push_back({"ROLE-4 ALWAYS-4", "two hundred observers", LinksAreBounded});
  checks.push_back({"ROLE-4", "idle observers keep nobody out", IdleObservers});
  checks.push_back({"ROLE-5", "an observer looks", ObserverMayLook});
  checks.push_back({"ROLE-5 ERR-1", "an observer may not touch", ObserverMayNotTouch});
  checks.push_back({"ROLE-6", "an observer's end is its own", ObserverEndsAlone});
}

}  // namespace superfluid::conformance
