// Partial emits.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"

namespace superfluid::conformance {
namespace {

constexpr uint32_t kPartialEmits = 1;

struct Emitted {
  uint32_t frames = 0;
  std::map<linkw::LaneTag, std::map<uint32_t, Token>> tokens;  // by place
};

// Takes the emits of a tick whose result has come.
Emitted TakeEmits(Driver& driver, uint64_t tick, uint64_t tick_id) {
  Emitted emitted;
  for (const Received& received : driver.peer().inbox()) {
    const auto* emit = std::get_if<linkw::TickEmit>(&received.message);
    if (emit == nullptr || received.correlation != tick) continue;
    ++emitted.frames;
    ExpectEq(emit->tick_id, tick_id, "tick_id of TICK_EMIT");
    Expect(!emit->tokens.empty(), "a TICK_EMIT without tokens");
    std::map<uint32_t, Token>& lane = emitted.tokens[emit->lane_tag];
    Expect(lane.empty() || lane.rbegin()->first < emit->index, "emits of a lane out of order");
    for (uint32_t i = 0; i < emit->tokens.size(); ++i) lane[emit->index + i] = emit->tokens[i];
  }
  std::erase_if(driver.peer().inbox(), [tick](const Received& received) {
    return received.correlation == tick &&
           std::holds_alternative<linkw::TickEmit>(received.message);
  });
  return emitted;
}

// What was emitted is what the lane drew; whether all of it.
bool SameAsOut(Driver& driver, const LaneEvent& event, const Emitted& emitted) {
  const Tokens out = driver.Out(event);
  const auto lane = emitted.tokens.find(event.lane_tag);
  if (lane == emitted.tokens.end()) return out.empty();
  for (const auto& [place, token] : lane->second) {
    Expect(place < out.size(), "an emit beyond the lane's tokens");
    ExpectEq(token, out[place], "an emitted token");
  }
  return lane->second.size() == out.size();
}

void OnlyIfWanted(Context& context) {
  Driver driver(context);
  const uint64_t tick = driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 20)});
  driver.Result(tick);
  driver.Ping();
  ExpectEq(TakeEmits(driver, tick, 0).frames, 0u, "emits of a tick without PARTIAL_EMITS");
}

void SameAsTheOutRing(Context& context) {
  Driver driver(context);
  std::vector<Lane> lanes = {driver.DecodeLane(kNew, driver.Prompt(4), 20),
                             driver.DecodeLane(kNew, driver.Prompt(5), 1, Warm(1)),
                             driver.PrefillLane(kNew, driver.Prompt(6)),
                             driver.DecodeLane(kNew, driver.Prompt(7), 64, Warm(2))};
  lanes.resize(std::min<size_t>(lanes.size(), driver.ack().limits.max_lanes));
  for (int i = 0; i < 5; ++i) {
    const uint64_t tick = driver.Submit(lanes, kPartialEmits);
    const linkw::TickResult result = driver.Result(tick);
    ExpectEq(result.status, Status::kOk, "status of the tick");
    const Emitted emitted = TakeEmits(driver, tick, result.events.tick_id);
    Expect(emitted.frames > 0, "not one emit");
    for (const LaneEvent& event : result.events.lanes) {
      const bool all = SameAsOut(driver, event, emitted);
      Expect(all || result.events.dropped_emits > 0, "emits lack tokens, and dropped_emits is 0");
      driver.Drop(event.sequence);
    }
  }
}

void EmitsOfAVerifyLane(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(6);
  const Tokens plain = driver.Plain(prompt, 8);
  const uint64_t tick =
      driver.Submit({driver.VerifyLane(driver.Start(prompt), plain, kGreedy)}, kPartialEmits);
  const linkw::TickResult result = driver.Result(tick);
  const Emitted emitted = TakeEmits(driver, tick, result.events.tick_id);
  Expect(SameAsOut(driver, result.events.lanes[0], emitted), "emits lack tokens");
}

void BeforeTheTickEnds(Context& context) {
  Driver driver(context);
  const uint64_t tick =
      driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 500)}, kPartialEmits);
  const auto start = Clock::now();
  driver.peer().Take(
      [tick](const Received& r) {
        return r.correlation == tick && std::holds_alternative<linkw::TickEmit>(r.message);
      },
      "the first TICK_EMIT");
  const auto first = Clock::now() - start;
  driver.Result(tick);
  Expect(Clock::now() - start > 2 * first, "the first emit came with the end of the tick");
}

void PeerThatDoesNotRead(Context& context) {
  Driver driver(context);
  const size_t lanes = std::min<size_t>(64, driver.ack().limits.max_lanes);
  const uint32_t count =
      static_cast<uint32_t>(std::min<uint64_t>(1024, driver.facts().context_tokens - 8));
  std::vector<Lane> plan;
  const linkw::TokenSpan input = driver.Put(driver.Prompt(4));
  for (size_t i = 0; i < lanes; ++i) {
    plan.push_back(driver.DecodeLane(kNew, {}, count, Warm(i)));
    plan.back().input = input;
  }
  // Nothing is read until both ticks have run.
  driver.peer().set_deaf(true);
  const uint64_t first = driver.Submit(plan, kPartialEmits);
  const uint64_t second = driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 1)});
  context.Pause(absl::Seconds(3));
  driver.peer().set_deaf(false);
  const linkw::TickResult result = driver.Result(first);
  ExpectEq(result.status, Status::kOk, "status of the tick");
  ExpectEq(driver.Result(second).status, Status::kOk, "status of the tick behind it");
  const Emitted emitted = TakeEmits(driver, first, result.events.tick_id);
  bool all = true;
  for (const LaneEvent& event : result.events.lanes) {
    ExpectEq(event.out.count, count, "tokens in the out ring");
    all = SameAsOut(driver, event, emitted) && all;
  }
  ExpectEq(result.events.dropped_emits == 0, all, "dropped_emits is 0 if nothing is missing");
  Expect(!all, "an unread peer was sent every emit: the worker keeps them all");
}

}  // namespace

void AddEmitChecks(std::vector<Check>& checks) {
  checks.push_back({"EMIT-1", "no emits unless wanted", OnlyIfWanted, {"tick"}});
  checks.push_back({"EMIT-1 EMIT-2 EMIT-3 EMIT-4",
                    "emits say what the out ring says",
                    SameAsTheOutRing,
                    {"tick"}});
  checks.push_back({"EMIT-3", "emits of a verify lane", EmitsOfAVerifyLane, {"tick"}});
  checks.push_back(
      {"EMIT-2", "emits come while the tick runs", BeforeTheTickEnds, {"tick"}, Pace::kSlow});
  checks.push_back({"EMIT-4 ALWAYS-5",
                    "a peer that does not read its emits",
                    PeerThatDoesNotRead,
                    {"tick"},
                    Pace::kAny,
                    60});
}

}  // namespace superfluid::conformance
