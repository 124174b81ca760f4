// Drains.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/ops.h"
#include "tests/conformance/speech.h"

namespace superfluid::conformance {
namespace {

linkw::Drained AwaitDrained(Link& link, uint64_t seq) {
  return link.peer().Await<linkw::Drained>(seq);
}

// Each of these has been answered when DRAINED is there.
void ExpectAnswered(Link& link, const std::vector<uint64_t>& seqs) {
  for (const uint64_t seq : seqs) {
    const bool there = std::any_of(
        link.peer().inbox().begin(), link.peer().inbox().end(), [seq](const Received& received) {
          return received.correlation == seq &&
                 (std::holds_alternative<linkw::StateSyncResult>(received.message) ||
                  std::holds_alternative<linkw::TickResult>(received.message) ||
                  std::holds_alternative<linkw::StateOpDone>(received.message));
        });
    Expect(there, absl::StrCat("DRAINED came before the answer to ", seq));
  }
}

void Idle(Context& context) {
  Link link(context);
  const linkw::Drained drained = AwaitDrained(link, link.Send(linkw::DrainRequest{}));
  ExpectEq(drained.finished, 0u, "finished");
  ExpectEq(drained.cancelled, 0u, "cancelled");
}

void RefusesNewWork(Context& context) {
  Driver driver(context);
  const linkw::TokenSpan input = driver.Put({0});
  const Lane lane{.lane_tag = linkw::LaneTag(1), .input = input, .max_tokens = 1};
  AwaitDrained(driver, driver.Send(linkw::DrainRequest{}));
  for (const linkw::DriverMessage& message : std::vector<linkw::DriverMessage>{
           linkw::TickSubmit{{.tick_id = 1, .lanes = {lane}}}, linkw::MatchRequest{},
           linkw::SeedAcquire{}, linkw::StateOpSubmit{linkw::Snapshot{}},
           linkw::StateSyncRequest{linkw::CreateSequence{}},
           linkw::StateSyncRequest{LiveTranscription()}, linkw::StrategyRegister{},
           linkw::BufAlloc{.buf_id = linkw::BufId(1), .len = 1}}) {
    driver.ExpectRefused(driver.Send(message), {Status::kDraining},
                         linkw::MessageTypeName(linkw::TypeOf(message)));
  }
  for (const linkw::DriverMessage& message : std::vector<linkw::DriverMessage>{
           linkw::SeedRelease{}, linkw::OpCancel{}, linkw::TranscribeCancel{}, linkw::BufRelease{},
           linkw::Telemetry{}}) {
    driver.ExpectSilent(driver.Send(message), linkw::MessageTypeName(linkw::TypeOf(message)));
  }
  driver.Ping();
}

void NextLinkServes(Context& context) {
  {
    Link link(context);
    AwaitDrained(link, link.Send(linkw::DrainRequest{}));
  }
  Link link(context);
  // Refused for want of an fds socket: so it is not draining any more.
  link.ExpectRefused(link.Send(linkw::BufAlloc{.buf_id = linkw::BufId(1), .len = 1}),
                     {Status::kFailedPrecondition}, "BUF_ALLOC");
}

void SpeechIsFinished(Context& context) {
  Link link(context);
  const uint64_t seq = link.SendCall(PathTranscription(context.SpeechFile(2000)));
  const uint64_t drain = link.Send(linkw::DrainRequest{});
  const linkw::Drained drained = AwaitDrained(link, drain);
  ExpectAnswered(link, {seq});
  Hear(link, seq);
  Expect(drained.finished <= 1 && drained.cancelled == 0,
         absl::StrCat("DRAINED says ", drained.finished, " finished, ", drained.cancelled,
                      " cancelled"));
}

void SpeechIsCancelled(Context& context) {
  Link link(context);
  const std::vector<uint64_t> seqs = {StartEndless(link), StartEndless(link)};
  link.Ping();
  const uint64_t drain = link.Send(linkw::DrainRequest{.cancel_transcriptions = true});
  const linkw::Drained drained = AwaitDrained(link, drain);
  ExpectAnswered(link, seqs);
  for (const uint64_t seq : seqs) Hear(link, seq, {Status::kCancelled});
  ExpectEq(drained.cancelled, 2u, "cancelled");
  ExpectEq(drained.finished, 0u, "finished");
}

void Deadline(Context& context) {
  Link link(context);
  const uint64_t seq = StartEndless(link);
  const auto start = Clock::now();
  const uint64_t drain = link.Send(linkw::DrainRequest{.deadline_ms = 300});
  link.Ping();
  const linkw::Drained drained = AwaitDrained(link, drain);
  const std::chrono::duration<double> took = Clock::now() - start;
  Expect(took.count() > 0.25 && took.count() < 5,
         absl::StrCat("DRAINED after ", took.count(), " s, the deadline was 0.3 s"));
  ExpectAnswered(link, {seq});
  Hear(link, seq, {Status::kCancelled});
  ExpectEq(drained.cancelled, 1u, "cancelled");
}

void ASecondDrain(Context& context) {
  Link link(context);
  const uint64_t seq = StartEndless(link);
  const uint64_t first = link.Send(linkw::DrainRequest{});
  link.ExpectRefused(link.Send(linkw::DrainRequest{}), {Status::kBusy}, "a second DRAIN_REQ");
  link.Send(linkw::TranscribeCancel{seq});  // still works
  Hear(link, seq, {Status::kCancelled});
  AwaitDrained(link, first);
}

void TicksAreFinished(Context& context) {
  Driver driver(context);
  std::vector<uint64_t> ticks;
  ticks.reserve(4);
  for (int i = 0; i < 4; ++i) {
    ticks.push_back(driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 30)}));
  }
  const uint64_t drain = driver.Send(linkw::DrainRequest{});
  const uint64_t late = driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 1)});
  const linkw::Drained drained = AwaitDrained(driver, drain);
  ExpectAnswered(driver, ticks);
  for (const uint64_t tick : ticks) {
    ExpectEq(driver.Result(tick).status, Status::kOk, "a tick that was open");
  }
  ExpectEq(driver.Outcome(late).first, Status::kDraining, "a tick behind DRAIN_REQ");
  ExpectEq(drained.cancelled, 0u, "cancelled");
}

void TicksAreCancelledAtTheDeadline(Context& context) {
  Driver driver(context);
  std::vector<uint64_t> ticks;
  ticks.reserve(3);
  for (int i = 0; i < 3; ++i) {
    ticks.push_back(driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 1000)}));
  }
  const auto start = Clock::now();
  const linkw::Drained drained =
      AwaitDrained(driver, driver.Send(linkw::DrainRequest{.deadline_ms = 200}));
  Expect(Clock::now() - start < std::chrono::seconds(2), "DRAINED is late");
  ExpectAnswered(driver, ticks);
  for (const uint64_t tick : ticks) {
    const Status status = driver.Outcome(tick).first;
    Expect(status == Status::kCancelled || status == Status::kDraining,
           "a tick cancelled by the drain: " + Show(status));
  }
  ExpectEq(drained.cancelled, 3u, "cancelled");
}

// Ops of a sequence of its own; their submits.
std::vector<uint64_t> OpenOps(Driver& driver, int count) {
  const SequenceId sequence = driver.Start(driver.Prompt(driver.Boundary()));
  const SpaceId space = driver.spaces()[0].space_id;
  const uint64_t boundary = BoundaryOf(driver, sequence, space);
  const auto size = SizeOf(driver, sequence, space, {0, boundary});
  std::vector<uint64_t> seqs;
  for (int i = 0; i < count; ++i) {
    const Link::Buffer buffer = driver.AttachBuffer(kEnvelopeBytes + size.required_bytes);
    seqs.push_back(
        driver.Send(linkw::StateOpSubmit{linkw::Snapshot{.sequence = sequence,
                                                         .space_id = space,
                                                         .boundary_pos = boundary,
                                                         .buf_id = buffer.id,
                                                         .sizing_gen = size.sizing_gen}}));
  }
  for (const uint64_t seq : seqs) {
    ExpectEq(driver.peer().Await<linkw::StateOpAccepted>(seq).status, Status::kOk, "an op");
  }
  return seqs;
}

void OpsAreFinished(Context& context) {
  Driver driver(context);
  const std::vector<uint64_t> seqs = OpenOps(driver, 4);
  const linkw::Drained drained = AwaitDrained(driver, driver.Send(linkw::DrainRequest{}));
  ExpectAnswered(driver, seqs);
  for (const uint64_t seq : seqs) {
    ExpectEq(AwaitDone(driver, seq).state, OpState::kDone, "an op that was open");
  }
  ExpectEq(drained.cancelled, 0u, "cancelled");
}

void OpsAreCancelledAtTheDeadline(Context& context) {
  Driver driver(context);
  const std::vector<uint64_t> seqs = OpenOps(driver, 16);
  AwaitDrained(driver, driver.Send(linkw::DrainRequest{.deadline_ms = 30}));
  ExpectAnswered(driver, seqs);
  for (const uint64_t seq : seqs) {
    Expect(AwaitDone(driver, seq).state != OpState::kFailed, "an op cancelled by the drain FAILED");
  }
}

// On a worker of its own, since it ends.
void ShutDown(Context& context, linkw::Role role) {
  if (!context.worker().ours()) Skip("this suite did not start the worker");
  const std::string socket =
      absl::StrCat(context.settings().folder, "/end-", context.Random(1'000'000), ".sock");
  Worker worker(context.worker().command(), socket);
  worker.EnsureRunning();
  const Settings& settings = context.settings();
  Context own(worker, settings, context.Random(1'000'000), context.until());
  own.set_facts(context.facts());
  Link driver(own);
  Link asker(own, linkw::Role::kObserver);
  Link& link = role == linkw::Role::kDriver ? driver : asker;
  AwaitDrained(link, link.Send(linkw::DrainRequest{.shut_down = true}));
  driver.peer().AwaitClosed();
  asker.peer().AwaitClosed();
  std::string end;
  while (end.empty()) {
    context.Pause(absl::Milliseconds(10));
    end = worker.Died();
  }
  ExpectEq(end, std::string("exit code 0"), "how the worker ended");
}

}  // namespace

void AddDrainChecks(std::vector<Check>& checks) {
  const std::vector<std::string> speech = {"transcribe"};
  const std::vector<std::string> ops = {"tick", "state_ops", "export_size", "snapshot_boundary"};
  checks.push_back({"DRAIN-2 DRAIN-5", "a drain of nothing", Idle});
  checks.push_back({"DRAIN-1 ERR-1", "a drain refuses new work", RefusesNewWork, {"tick"}});
  checks.push_back({"DRAIN-1", "the next link after a drain", NextLinkServes});
  checks.push_back({"DRAIN-3 DRAIN-2 DRAIN-5", "a drain finishes speech", SpeechIsFinished, speech,
                    Pace::kAny, 40});
  checks.push_back(
      {"DRAIN-3 DRAIN-2 DRAIN-5", "a drain cancels speech", SpeechIsCancelled, speech});
  checks.push_back({"DRAIN-4 DRAIN-2", "a drain with a deadline", Deadline, speech});
  checks.push_back({"DRAIN-6 DRAIN-1", "a second drain", ASecondDrain, speech});
  checks.push_back({"DRAIN-7", "a driver shuts the worker down",
                    [](Context& c) { ShutDown(c, linkw::Role::kDriver); }});
  checks.push_back({"DRAIN-7 ROLE-5", "an observer shuts the worker down",
                    [](Context& c) { ShutDown(c, linkw::Role::kObserver); }});
  checks.push_back(
      {"DRAIN-3 DRAIN-2", "a drain finishes ticks", TicksAreFinished, {"tick"}, Pace::kSlow});
  checks.push_back({"DRAIN-4 DRAIN-5",
                    "a drain cancels ticks at its deadline",
                    TicksAreCancelledAtTheDeadline,
                    {"tick"},
                    Pace::kSlow});
  checks.push_back(
      {"DRAIN-3 DRAIN-2", "a drain finishes ops", OpsAreFinished, ops, Pace::kSlow, 40});
  checks.push_back({"DRAIN-4", "a drain cancels ops at its deadline", OpsAreCancelledAtTheDeadline,
                    ops, Pace::kSlow});
}

}  // namespace superfluid::conformance
