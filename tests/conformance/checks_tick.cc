// Ticks as a whole.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

const std::vector<std::string>& Tick() {
  static const auto* const kCalls = new std::vector<std::string>{"tick"};
  return *kCalls;
}

Lane OneLane(linkw::TokenSpan input) {
  return {
      .lane_tag = linkw::LaneTag(1), .input = input, .kind = LaneKind::kDecode, .max_tokens = 1};
}

void BeforeTheRings(Context& context) {
  const std::vector<RingSpec> rings = {kTokenInRing, kTokenOutRing, kLogitsRing};
  for (size_t left_out = 0; left_out < rings.size(); ++left_out) {
    Link link(context);
    link.OpenFds();
    const linkw::TickSubmit tick{{.tick_id = 1, .lanes = {OneLane({})}}};
    link.ExpectRefused(link.Send(tick), {Status::kFailedPrecondition}, "a tick without rings");
    for (size_t i = 0; i < rings.size(); ++i) {
      if (i == left_out) continue;
      const Segment segment = *Segment::Create(*RingBytes(rings[i]), "conformance");
      link.peer().Await<linkw::RingAck>(link.AttachRing(rings[i], segment));
    }
    link.ExpectRefused(link.Send(tick), {Status::kFailedPrecondition}, "a tick with two rings");
  }
}

void WithoutTicks(Context& context) {
  if (context.facts().Has("tick")) Skip("the engine has ticks");
  Driver driver(context);
  driver.ExpectRefused(driver.Send(linkw::TickSubmit{{.tick_id = 1, .lanes = {OneLane({})}}}),
                       {Status::kUnsupported}, "a tick for an engine without ticks");
}

void OneResultEach(Context& context) {
  Driver driver(context);
  std::vector<uint64_t> ticks;
  for (uint32_t i = 1; i <= 20; ++i) {
    ticks.push_back(driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), i)}));
  }
  for (uint32_t i = 1; i <= 20; ++i) {
    const linkw::TickResult result = driver.Result(ticks[i - 1]);
    ExpectEq(result.status, Status::kOk, "status of a tick");
    ExpectEq(driver.Out(result.events.lanes[0]).size(), size_t{i}, "tokens of the lane");
  }
}

void ManyLanes(Context& context, uint32_t count) {
  Driver driver(context);
  const uint32_t lanes = std::min(count, driver.ack().limits.max_lanes);
  std::vector<Lane> plan;
  for (uint32_t i = 0; i < lanes; ++i) {
    // The in ring has 64 slots: lanes share them.
    plan.push_back(driver.DecodeLane(kNew, i < 60 ? driver.Prompt(1) : Tokens(), 1 + i % 3));
    if (i >= 60) plan.back().input = plan[i % 60].input;
  }
  const linkw::TickEvents events = driver.Tick(plan);
  std::set<SequenceId> sequences;
  for (uint32_t i = 0; i < lanes; ++i) {
    const LaneEvent& event = events.lanes[i];
    ExpectEq(event.status, Status::kOk, "status of a lane");
    ExpectEq(driver.Out(event).size(), size_t{1 + i % 3}, "tokens of a lane");
    ExpectEq(event.position, uint64_t{2 + i % 3}, "position of a lane");
    Expect(sequences.insert(event.sequence).second, "two new sequences have the same handle");
  }
  std::set<std::pair<uint32_t, uint32_t>> words;  // lanes may share a slot, but no word of it
  for (const LaneEvent& event : events.lanes) {
    for (uint32_t i = 0; i < event.out.count; ++i) {
      Expect(words.emplace(event.out.slot, event.out.offset + i).second, "two out spans overlap");
    }
  }
}

void TooManyLanes(Context& context) {
  Driver driver(context);
  driver.ExpectTickRefused({}, {Status::kInvalidArgument}, "a tick without lanes");
  const linkw::TokenSpan input = driver.Put(driver.Prompt(1));
  for (const uint32_t lanes : {driver.ack().limits.max_lanes + 1, 257u}) {
    std::vector<Lane> plan(lanes, OneLane(input));
    for (uint32_t i = 0; i < lanes; ++i) plan[i].lane_tag = linkw::LaneTag(i);
    driver.ExpectTickRefused(plan, {Status::kInvalidArgument}, "a tick with too many lanes");
  }
}

void InOrder(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(12);
  const linkw::Sampling sampling = Warm(context.Random(1'000'000));
  const Tokens plain = driver.Plain(prompt, 30, sampling);
  const SequenceId sequence = driver.Start(prompt);
  std::vector<uint64_t> ticks;
  ticks.reserve(10);
  for (int i = 0; i < 10; ++i) {
    ticks.push_back(driver.Submit({driver.DecodeLane(sequence, {}, 3, sampling)}));
  }
  Tokens drawn;
  for (const uint64_t tick : ticks) {
    const Tokens some = driver.Out(driver.Result(tick).events.lanes[0]);
    drawn.insert(drawn.end(), some.begin(), some.end());
  }
  ExpectEq(drawn, plain, "ten ticks that were sent at once");
}

void CountersAndTime(Context& context) {
  Driver driver(context);
  const linkw::TickEvents events =
      driver.Tick({driver.DecodeLane(kNew, driver.Prompt(8), 50, kGreedy)});
  const linkw::Pong pong = driver.Ping();
  Expect(events.mem == pong.mem,
         "the memory counters of the tick and of the PONG behind it differ");
  Expect(events.timings.engine_us > 0, "engine_us of a tick that takes time is 0");
}

void Deadline(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(8);
  const linkw::Sampling sampling = Warm(5);
  const uint64_t tick =
      driver.Submit({driver.DecodeLane(kNew, prompt, 1000, sampling)}, 0, 100'000);
  const linkw::TickResult result = driver.Result(tick);
  ExpectEq(result.status, Status::kDeadlineExceeded, "a tick beyond its deadline");
  ExpectEq(result.events.lanes.size(), size_t{1}, "events of a tick beyond its deadline");
  const LaneEvent& event = result.events.lanes[0];
  ExpectEq(event.finish_reason, FinishReason::kStopped, "the lane");
  Tokens drawn = driver.Out(event);
  Expect(!drawn.empty() && drawn.size() < 1000, "the lane has " + Show(drawn));
  ExpectEq(event.position, prompt.size() + drawn.size(), "position");
  // What was drawn is part of the sequence, and it goes on from there.
  const Tokens more = driver.Draw(event.sequence, 4, sampling);
  drawn.insert(drawn.end(), more.begin(), more.end());
  ExpectEq(driver.Plain(prompt, static_cast<uint32_t>(drawn.size()), sampling), drawn,
           "the stopped sequence, continued");
}

void DeadlineInTheQueue(Context& context) {
  Driver driver(context);
  const uint64_t first = driver.Submit({driver.DecodeLane(kNew, driver.Prompt(8), 1000)});
  const uint64_t second =
      driver.Submit({driver.DecodeLane(kNew, driver.Prompt(8), 1000)}, 0, 20'000);
  const linkw::TickResult late = driver.Result(second);
  ExpectEq(late.status, Status::kDeadlineExceeded, "a tick whose deadline passed while it waited");
  Expect(late.events.lanes.empty(), "it has events");
  for (const Received& received : driver.peer().inbox()) {
    Expect(received.correlation != first, "it was answered after the tick in front of it");
  }
  ExpectEq(driver.Result(first).status, Status::kOk, "the tick in front");
}

void NoDeadline(Context& context) {
  Driver driver(context);
  const uint64_t tick =
      driver.Submit({driver.DecodeLane(kNew, driver.Prompt(8), 3)}, 0, 600'000'000);
  ExpectEq(driver.Result(tick).status, Status::kOk, "a tick with ten minutes of time");
  const uint64_t longest =
      driver.Submit({driver.DecodeLane(kNew, driver.Prompt(8), 3)}, 0, ~uint64_t{0});
  ExpectEq(driver.Result(longest).status, Status::kOk, "a tick with all the time there is");
}

void AnyTag(Context& context) {
  Driver driver(context);
  std::vector<Lane> lanes = {driver.DecodeLane(kNew, driver.Prompt(2), 1),
                             driver.DecodeLane(kNew, driver.Prompt(2), 1)};
  lanes[0].lane_tag = linkw::LaneTag(0);
  lanes[1].lane_tag = linkw::LaneTag(~uint64_t{0});
  for (const LaneEvent& event : driver.Tick(lanes).lanes) {
    ExpectEq(event.status, Status::kOk, "status of the lane");
  }
}

void OutRingIsRoundRobin(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(4);
  const LaneEvent first = driver.Run(driver.DecodeLane(kNew, prompt, 3));
  const Tokens tokens = driver.Out(first);
  for (int i = 0; i < 255; ++i) driver.Run(driver.DecodeLane(first.sequence, {}, 1));
  ExpectEq(driver.Out(first), tokens, "the span of 255 ticks ago");
  driver.Run(driver.DecodeLane(first.sequence, {}, 1));
  Tokens again(first.out.count);
  const auto read = driver.out_ring().Read({.ring = 2,
                                            .slot = first.out.slot,
                                            .generation = first.out.generation,
                                            .offset = first.out.offset,
                                            .count = first.out.count},
                                           absl::MakeSpan(again));
  Expect(!read.ok(), "the span of 256 ticks ago is still there: slots are not used round robin");
}

}  // namespace

void AddTickChecks(std::vector<Check>& checks) {
  checks.push_back({"TICK-1 ERR-1", "a tick before the rings", BeforeTheRings, Tick()});
  checks.push_back({"TICK-27 CALL-2", "a tick for an engine without ticks", WithoutTicks});
  checks.push_back({"TICK-2 TICK-19 ALWAYS-1", "twenty ticks at once", OneResultEach, Tick()});
  checks.push_back({"TICK-3", "a tick of one lane", [](Context& c) { ManyLanes(c, 1); }, Tick()});
  checks.push_back({"TICK-3 TICK-14 TICK-2", "a tick of as many lanes as there may be",
                    [](Context& c) { ManyLanes(c, 256); }, Tick()});
  checks.push_back({"TICK-3 ERR-1", "no lanes, and too many", TooManyLanes, Tick()});
  checks.push_back({"TICK-24 DRAW-8 CALL-5", "ticks take effect in order", InOrder, Tick()});
  checks.push_back({"TICK-25", "counters and time", CountersAndTime, Tick(), Pace::kSlow});
  checks.push_back({"TICK-23 ALWAYS-7", "a deadline inside a tick", Deadline, Tick(), Pace::kSlow});
  checks.push_back(
      {"TICK-23", "a deadline while the tick waits", DeadlineInTheQueue, Tick(), Pace::kSlow});
  checks.push_back({"TICK-23", "a deadline far away", NoDeadline, Tick()});
  checks.push_back({"TICK-26", "lane tags 0 and 2^64 - 1", AnyTag, Tick()});
  checks.push_back(
      {"RING-9 RING-7", "out slots are used round robin", OutRingIsRoundRobin, Tick()});
}

}  // namespace superfluid::conformance
