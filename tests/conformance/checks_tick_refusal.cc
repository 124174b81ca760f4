// Ticks that are refused as a whole.

#include <string>
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

// A sequence that must not change, and a lane that would change it.
class Untouched {
 public:
  explicit Untouched(Driver& driver)
      : driver_(driver), prompt_(driver.Prompt(10)), sequence_(driver.Start(prompt_)) {}

  Lane MakeLane() { return driver_.DecodeLane(sequence_, driver_.Prompt(3), 3); }
  SequenceId sequence() const { return sequence_; }

  void Check() {
    const LaneEvent event = driver_.Run(driver_.DecodeLane(sequence_, {}, 5));
    ExpectEq(event.position, prompt_.size() + 5, "position of a sequence of a refused tick");
    ExpectEq(driver_.Out(event), driver_.Plain(prompt_, 5), "what the sequence draws now");
  }

 private:
  Driver& driver_;
  Tokens prompt_;
  SequenceId sequence_;
};

void RepeatedTags(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  std::vector<Lane> lanes = {untouched.MakeLane(), driver.DecodeLane(kNew, driver.Prompt(3), 3),
                             driver.DecodeLane(kNew, driver.Prompt(3), 3)};
  lanes[2].lane_tag = lanes[0].lane_tag;
  driver.ExpectTickRefused(lanes, {Status::kInvalidArgument}, "a lane tag twice");
  untouched.Check();
}

void RepeatedSequences(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  driver.ExpectTickRefused({untouched.MakeLane(), untouched.MakeLane()}, {Status::kInvalidArgument},
                           "a sequence twice");
  untouched.Check();
}

void StaleSpan(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  Lane stale = driver.DecodeLane(kNew, driver.Prompt(5), 3);
  // The in ring has 64 slots: this writes each of them again.
  for (int i = 0; i < 64; ++i) driver.Put(driver.Prompt(5));
  driver.ExpectTickRefused({untouched.MakeLane(), stale}, {Status::kRejectBadRefGeneration},
                           "a stale span");
  untouched.Check();
}

void OverwrittenWhileItWaits(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  const uint64_t running = driver.Submit({driver.DecodeLane(kNew, driver.Prompt(5), 300)});
  driver.peer().Listen(absl::Milliseconds(50));
  const uint64_t waiting =
      driver.Submit({untouched.MakeLane(), driver.DecodeLane(kNew, driver.Prompt(5), 3)});
  for (int i = 0; i < 64; ++i) driver.Put(driver.Prompt(5));
  driver.Result(running);
  const linkw::TickResult result = driver.Result(waiting);
  // A worker may read the tokens when the tick arrives: then they are whole.
  if (result.status == Status::kOk) return;
  ExpectEq(result.status, Status::kRejectBadRefGeneration,
           "a slot written again before it is read");
  untouched.Check();
}

void GenerationsThatCannotBe(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  const auto refused = [&](uint64_t generation, std::string_view what) {
    Lane lane = driver.DecodeLane(kNew, driver.Prompt(5), 3);
    lane.input.generation = generation;
    driver.ExpectTickRefused({untouched.MakeLane(), lane},
                             {Status::kInvalidArgument, Status::kRejectBadRefGeneration}, what);
  };
  refused(0, "generation 0");
  refused(1, "an odd generation");
  refused(1'000'000, "a generation that the slot never had");
  refused(~uint64_t{0}, "generation 2^64 - 1");
  untouched.Check();
}

void SpansThatCannotBe(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  const auto refused = [&](void (*change)(linkw::TokenSpan&), std::string_view what) {
    Lane lane = driver.DecodeLane(kNew, driver.Prompt(5), 3);
    change(lane.input);
    driver.ExpectTickRefused({untouched.MakeLane(), lane}, {Status::kInvalidArgument}, what);
  };
  refused([](linkw::TokenSpan& s) { s.ring_id = linkw::kTokenOutRing; }, "a span in ring 2");
  refused([](linkw::TokenSpan& s) { s.ring_id = linkw::RingId(9); }, "a span in ring 9");
  refused([](linkw::TokenSpan& s) { s.slot = 64; }, "slot 64 of 64");
  refused([](linkw::TokenSpan& s) { s.slot = ~0u; }, "slot 2^32 - 1");
  refused([](linkw::TokenSpan& s) { s.count = 6; }, "six tokens of five");
  refused([](linkw::TokenSpan& s) { s.count = 4097; }, "more tokens than a slot has");
  refused([](linkw::TokenSpan& s) { s.count = ~0u; }, "2^32 - 1 tokens");
  refused([](linkw::TokenSpan& s) { s.offset = 1; }, "five tokens from the second of five");
  refused(
      [](linkw::TokenSpan& s) {
        s.offset = ~0u;
        s.count = 2;
      },
      "an offset that overflows");
  untouched.Check();
}

void PartOfASlot(Context& context) {
  Driver driver(context);
  const Tokens tokens = driver.Prompt(10);
  Lane lane = driver.DecodeLane(kNew, tokens, 6);
  lane.input.offset = 3;
  lane.input.count = 4;
  const Tokens part(tokens.begin() + 3, tokens.begin() + 7);
  ExpectEq(driver.Out(driver.Run(lane)), driver.Plain(part, 6), "a span of a part of a slot");
}

void TooManyLogits(Context& context) {
  Driver driver(context);
  if (driver.ack().limits.max_lanes < 33) Skip("the engine has fewer than 33 lanes");
  Untouched untouched(driver);
  std::vector<Lane> lanes = {untouched.MakeLane()};
  const linkw::TokenSpan input = driver.Put(driver.Prompt(2));
  for (int i = 0; i < 33; ++i) {
    lanes.push_back(driver.PrefillLane(kNew, {}));
    lanes.back().input = input;
    lanes.back().want_logits = true;
  }
  driver.ExpectTickRefused(lanes, {Status::kInvalidArgument}, "33 lanes that want logits");
  untouched.Check();
  lanes.pop_back();
  lanes.erase(lanes.begin());
  for (const LaneEvent& event : driver.Tick(lanes).lanes) {
    Expect(!driver.Logits(event).empty(), "a lane of 32 has no logits");
  }
}

void UnknownFlags(Context& context) {
  Driver driver(context);
  Untouched untouched(driver);
  for (const uint32_t flags : {2u, 3u, 1u << 31}) {
    const linkw::TickResult result = driver.Result(driver.Submit({untouched.MakeLane()}, flags));
    ExpectEq(result.status, Status::kInvalidArgument, absl::StrCat("a tick with flags ", flags));
  }
  untouched.Check();
}

void NothingIsCreated(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(4);
  // The next new sequence's memory is that of one sequence, however many refused ticks wanted some.
  const linkw::MemCounters before = driver.Ping().mem;
  for (int i = 0; i < 20; ++i) {
    Lane stale = driver.DecodeLane(kNew, prompt, 3);
    stale.input.generation += 2;
    driver.ExpectTickRefused({driver.DecodeLane(kNew, prompt, 3), stale},
                             {Status::kRejectBadRefGeneration}, "a stale span");
  }
  Expect(driver.Ping().mem == before, "refused ticks changed the memory counters");
}

}  // namespace

void AddTickRefusalChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&),
                             Pace pace = Pace::kAny) {
    checks.push_back({ids, title, run, Tick(), pace});
  };
  add("TICK-4 TICK-8 ERR-1", "a lane tag twice", RepeatedTags);
  add("TICK-4 TICK-8 ERR-1", "a sequence twice", RepeatedSequences);
  add("TICK-5 TICK-8 RING-7 ERR-1", "a stale span", StaleSpan);
  add("TICK-5 TICK-8 ALWAYS-6", "a slot written again while the tick waits",
      OverwrittenWhileItWaits, Pace::kSlow);
  add("TICK-6 TICK-8 RING-7", "generations that cannot be", GenerationsThatCannotBe);
  add("TICK-6 TICK-8 ALWAYS-3", "spans that cannot be", SpansThatCannotBe);
  add("TICK-6", "a span of a part of a slot", PartOfASlot);
  add("TICK-7 TICK-8", "33 lanes that want logits, and 32", TooManyLogits);
  add("TICK-28 TICK-8 ERR-1", "flags that are none", UnknownFlags);
  add("TICK-8", "refused ticks make nothing", NothingIsCreated);
}

}  // namespace superfluid::conformance
