// Sequences: made, forked, cut, measured.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"
#include "tests/conformance/ops.h"

namespace superfluid::conformance {
namespace {

constexpr int kCases = 15;
constexpr SequenceId kUnknown{987654321};

SequenceId Fork(Driver& driver, SequenceId parent) {
  return driver.Ok<linkw::ForkResult>(linkw::Fork{.parent = parent}).child;
}

SequenceId Create(Driver& driver) {
  return driver.Ok<linkw::CreateSequenceResult>(linkw::CreateSequence{}).sequence;
}

void CreatedAndFreed(Context& context) {
  Driver driver(context);
  std::set<SequenceId> handles;
  for (int i = 0; i < 50; ++i) {
    const SequenceId sequence = Create(driver);
    Expect(sequence != kNew, "the sequence handle 0");
    Expect(handles.insert(sequence).second, "a handle that was used before");
    driver.Ok<linkw::FreeSequenceResult>(linkw::FreeSequence{sequence});
    driver.Refused(linkw::FreeSequence{sequence}, {Status::kUnknownHandle}, "freed twice");
  }
  driver.Refused(linkw::FreeSequence{kNew}, {Status::kUnknownHandle}, "sequence 0");
}

void CreatedIsEmpty(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(7);
  const LaneEvent event = driver.Run(driver.DecodeLane(Create(driver), prompt, 6));
  ExpectEq(event.position, uint64_t{13}, "position");
  ExpectEq(driver.Out(event), driver.Plain(prompt, 6), "what it draws");
}

void FreedIsUnknown(Context& context) {
  Driver driver(context);
  const SequenceId sequence = driver.Start(driver.Prompt(5));
  driver.Ok<linkw::FreeSequenceResult>(linkw::FreeSequence{sequence});
  driver.ExpectLaneError(driver.DecodeLane(sequence, {}, 1), {Status::kUnknownHandle},
                         "a lane with a freed sequence");
}

void ForksGoOn(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const Tokens prompt = driver.Prompt(1 + context.Random(40));
    const linkw::Sampling sampling = Warm(context.Random(1'000'000));
    const auto before = static_cast<uint32_t>(context.Random(20));
    const Tokens plain = driver.Plain(prompt, before + 20, sampling);
    const SequenceId parent = driver.Start(prompt);
    if (before > 0) driver.Draw(parent, before, sampling);
    const SequenceId child = Fork(driver, parent);
    Expect(child != parent && child != kNew, "the child's handle");
    const Tokens rest(plain.begin() + before, plain.end());
    ExpectEq(driver.Draw(child, 20, sampling), rest, "the fork");
    ExpectEq(driver.Draw(parent, 20, sampling), rest, "the parent of a fork that went on");
    driver.Drop(parent);
    driver.Drop(child);
  }
}

void ForksAreApart(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(20);
  const Tokens plain = driver.Plain(prompt, 10);
  const SequenceId parent = driver.Start(prompt);
  const SequenceId child = Fork(driver, parent);
  const SequenceId grandchild = Fork(driver, child);
  driver.Run(driver.PrefillLane(child, driver.Prompt(30)));
  driver.Drop(child);
  ExpectEq(driver.Draw(grandchild, 10), plain, "a fork of a fork that is gone");
  ExpectEq(driver.Draw(parent, 10), plain, "the parent");
}

void WrongForks(Context& context) {
  Driver driver(context);
  driver.Refused(linkw::Fork{.parent = kUnknown}, {Status::kUnknownHandle}, "an unknown parent");
  driver.Refused(linkw::Fork{.parent = kNew}, {Status::kUnknownHandle}, "parent 0");
  const SequenceId sequence = driver.Start(driver.Prompt(5));
  for (const uint32_t flags : {1u, 0x80000000u}) {
    driver.Refused(linkw::Fork{.parent = sequence, .flags = flags}, {Status::kInvalidArgument},
                   "flags that are not defined");
  }
}

void TrimAndRedo(Context& context) {
  Driver driver(context);
  const uint64_t boundary = driver.Boundary();
  for (int i = 0; i < kCases; ++i) {
    const uint64_t kept = boundary * (1 + context.Random(3));
    const Tokens prompt = driver.Prompt(kept);
    const linkw::Sampling sampling = Warm(context.Random(1'000'000));
    const Tokens plain = driver.Plain(prompt, 16, sampling);
    const SequenceId sequence = driver.Start(prompt);
    // Off into another direction, and back.
    driver.Run(driver.DecodeLane(sequence, driver.Prompt(1 + context.Random(20)), 5));
    TrimAll(driver, sequence, kept);
    const LaneEvent event = driver.Run(driver.DecodeLane(sequence, {}, 16, sampling));
    ExpectEq(driver.Out(event), plain, "a sequence that was cut back");
    ExpectEq(event.position, kept + 16, "position");
    driver.Drop(sequence);
  }
}

void TrimToNothing(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(9);
  const SequenceId sequence = driver.Start(driver.Prompt(12));
  TrimAll(driver, sequence, 0);
  ExpectEq(driver.Out(driver.Run(driver.DecodeLane(sequence, prompt, 5))), driver.Plain(prompt, 5),
           "a sequence that was cut to nothing");
}

void WrongTrims(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(driver.Boundary() * 2 + 1);
  const SequenceId sequence = driver.Start(prompt);
  const SpaceId space = driver.spaces()[0].space_id;
  const auto refused = [&](linkw::Trim trim, Statuses statuses, std::string_view what) {
    driver.Refused(trim, statuses, what);
  };
  refused({.sequence = sequence, .space_id = space, .new_len = prompt.size() + 64},
          {Status::kInvalidArgument}, "a cut beyond the sequence");
  refused({.sequence = sequence, .space_id = space, .new_len = ~uint64_t{0}},
          {Status::kInvalidArgument}, "a cut at 2^64 - 1");
  refused({.sequence = kUnknown, .space_id = space, .new_len = 0}, {Status::kUnknownHandle},
          "an unknown sequence");
  refused({.sequence = sequence, .space_id = SpaceId(4000), .new_len = 0},
          {Status::kUnknownHandle, Status::kInvalidArgument}, "an unknown space");
  for (const linkw::StateSpaceDescriptor& one : driver.spaces()) {
    if (one.boundary_tokens == 1) continue;
    refused({.sequence = sequence, .space_id = one.space_id, .new_len = one.boundary_tokens + 1},
            {Status::kInvalidArgument}, "a cut that is not at a boundary");
  }
  ExpectEq(driver.Draw(sequence, 5), driver.Plain(prompt, 5), "what the sequence draws");
}

void SpacesThatDiffer(Context& context) {
  Driver driver(context);
  if (driver.spaces().size() < 2) Skip("the engine has one state space");
  const uint64_t kept = driver.Boundary();
  const Tokens prompt = driver.Prompt(kept);
  const SequenceId sequence = driver.Start(prompt);
  driver.Run(driver.PrefillLane(sequence, driver.Prompt(kept)));
  driver.Ok<linkw::TrimResult>(
      linkw::Trim{.sequence = sequence, .space_id = driver.spaces()[0].space_id, .new_len = kept});
  driver.ExpectLaneError(driver.DecodeLane(sequence, {}, 1), {Status::kFailedPrecondition},
                         "a sequence of which one space is cut");
  TrimAll(driver, sequence, kept);
  ExpectEq(driver.Draw(sequence, 5), driver.Plain(prompt, 5), "once all are cut");
}

void LaneSequences(Context& context) {
  Driver driver(context);
  const linkw::LaneTag tag{77};
  driver.Refused(linkw::LaneSequence{linkw::LaneTag(987654321)}, {Status::kNotFound},
                 "a tag that was never used");
  for (int i = 0; i < 3; ++i) {
    Lane lane = driver.PrefillLane(kNew, driver.Prompt(4));
    lane.lane_tag = tag;
    const LaneEvent event = driver.Run(lane);
    ExpectEq(driver.Ok<linkw::LaneSequenceResult>(linkw::LaneSequence{tag}).sequence,
             event.sequence, "the sequence of the lane");
  }
}

void Boundaries(Context& context) {
  Driver driver(context);
  const uint64_t length = driver.Boundary() * 3 + 1;
  const SequenceId sequence = driver.Start(driver.Prompt(length));
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    uint64_t last = 0;
    for (uint64_t cap = 0; cap <= length + 5; ++cap) {
      const uint64_t boundary = BoundaryOf(driver, sequence, space.space_id, cap);
      Expect(boundary <= std::min(cap, length),
             absl::StrCat("boundary ", boundary, " for cap ", cap, " of ", length, " tokens"));
      Expect(boundary >= last, "the boundary goes back as the cap grows");
      Expect(boundary % space.boundary_tokens == 0 || boundary == length,
             absl::StrCat("boundary ", boundary, " is no multiple of ", space.boundary_tokens));
      Expect(boundary + space.boundary_tokens > std::min(cap, length),
             absl::StrCat("boundary ", boundary, " for cap ", cap, " is not the largest"));
      last = boundary;
    }
  }
  driver.Refused(linkw::SnapshotBoundary{.sequence = kUnknown}, {Status::kUnknownHandle},
                 "an unknown sequence");
}

void Sizes(Context& context) {
  Driver driver(context);
  const SequenceId sequence = driver.Start(driver.Prompt(driver.Boundary() * 2));
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    const uint64_t end = BoundaryOf(driver, sequence, space.space_id);
    const auto size = SizeOf(driver, sequence, space.space_id, {0, end});
    Expect(size.required_bytes > 0, "the export of a whole sequence has no bytes");
    const auto again = SizeOf(driver, sequence, space.space_id, {0, end});
    Expect(size == again, "the size changed although the state did not");
  }
}

void WrongSizes(Context& context) {
  Driver driver(context);
  const uint64_t length = driver.Boundary() * 2;
  const SequenceId sequence = driver.Start(driver.Prompt(length));
  const SpaceId space = driver.spaces()[0].space_id;
  const auto refused = [&](linkw::TokenRange range, uint32_t encoding, std::string_view what) {
    driver.Refused(
        linkw::ExportSize{
            .sequence = sequence, .space_id = space, .range = range, .encoding = encoding},
        {Status::kInvalidArgument}, what);
  };
  refused({0, length + 64}, 0, "a range beyond the sequence");
  refused({length, 0}, 0, "a reversed range");
  refused({0, ~uint64_t{0}}, 0, "a range up to 2^64 - 1");
  refused({0, length}, 63, "encoding 63");
  refused({0, length}, ~0u, "encoding 2^32 - 1");
  driver.Refused(linkw::ExportSize{.sequence = kUnknown, .space_id = space, .range = {0, 0}},
                 {Status::kUnknownHandle}, "an unknown sequence");
  driver.Refused(
      linkw::ExportSize{.sequence = sequence, .space_id = SpaceId(4000), .range = {0, 0}},
      {Status::kUnknownHandle, Status::kInvalidArgument}, "an unknown space");
}

}  // namespace

void AddSequenceChecks(std::vector<Check>& checks) {
  const std::vector<std::string> made = {"tick", "create_sequence", "free_sequence"};
  const std::vector<std::string> fork = {"tick", "fork"};
  const std::vector<std::string> trim = {"tick", "trim"};
  checks.push_back({"SEQ-1 SEQ-2 CALL-4", "fifty sequences", CreatedAndFreed, made});
  checks.push_back({"SEQ-1", "a created sequence is empty", CreatedIsEmpty, made});
  checks.push_back({"SEQ-2 TICK-10", "a lane with a freed sequence", FreedIsUnknown, made});
  checks.push_back(
      {"SEQ-3 DRAW-2", "a fork goes on as its parent", ForksGoOn, fork, Pace::kAny, 40});
  checks.push_back({"SEQ-3", "forks do not see each other", ForksAreApart, fork});
  checks.push_back({"SEQ-4 SEQ-9 ERR-1", "forks that will not do", WrongForks, fork});
  checks.push_back({"SEQ-5 DRAW-2", "cut and done again", TrimAndRedo, trim, Pace::kAny, 40});
  checks.push_back({"SEQ-5", "cut to nothing", TrimToNothing, trim});
  checks.push_back({"SEQ-6 SEQ-9 ERR-1", "cuts that will not do", WrongTrims, trim});
  checks.push_back({"SEQ-7", "spaces of different lengths", SpacesThatDiffer, trim});
  checks.push_back({"SEQ-8", "the sequence of a lane", LaneSequences, {"tick", "lane_sequence"}});
  checks.push_back({"SEQ-10 SEQ-9",
                    "boundaries of snapshots",
                    Boundaries,
                    {"tick", "snapshot_boundary"},
                    Pace::kAny,
                    40});
  checks.push_back(
      {"SEQ-11", "sizes of exports", Sizes, {"tick", "export_size", "snapshot_boundary"}});
  checks.push_back({"SEQ-12 SEQ-9 ERR-1",
                    "sizes of what cannot be exported",
                    WrongSizes,
                    {"tick", "export_size"}});
}

}  // namespace superfluid::conformance
