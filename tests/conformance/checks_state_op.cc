// State ops one at a time: what they do, and what is refused.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/ops.h"

namespace superfluid::conformance {
namespace {

constexpr int kCases = 12;
constexpr SequenceId kUnknown{987654321};

const std::vector<std::string>& Ops() {
  static const auto* const kCalls = new std::vector<std::string>{
      "tick", "state_ops", "export_size", "snapshot_boundary", "create_sequence", "free_sequence"};
  return *kCalls;
}

// A sequence in the middle of a decode, and how that goes on.
struct Running {
  SequenceId sequence{};
  uint64_t length = 0;
  linkw::Sampling sampling;
  Tokens rest;
};

Running StartRunning(Driver& driver, uint64_t least) {
  Context& context = driver.context();
  const Tokens prompt = driver.Prompt(least + context.Random(30));
  Running running{.sampling = Warm(context.Random(1'000'000))};
  const auto before = static_cast<uint32_t>(1 + context.Random(20));
  const Tokens plain = driver.Plain(prompt, before + 16, running.sampling);
  running.sequence = driver.Start(prompt);
  driver.Draw(running.sequence, before, running.sampling);
  running.length = prompt.size() + before;
  running.rest.assign(plain.begin() + before, plain.end());
  return running;
}

void ExpectGoesOn(Driver& driver, SequenceId sequence, const Running& running,
                  std::string_view what) {
  ExpectEq(driver.Draw(sequence, static_cast<uint32_t>(running.rest.size()), running.sampling),
           running.rest, what);
}

void SnapshotAndRestore(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const Running running = StartRunning(driver, 1);
    const Saved saved = SaveAll(driver, running.sequence);
    const SequenceId restored = RestoreNew(driver, saved);
    ExpectGoesOn(driver, restored, running, "the restored sequence");
    ExpectGoesOn(driver, running.sequence, running, "the sequence that was snapshotted");
    driver.Drop(restored);
    driver.Drop(running.sequence);
  }
}

void RestoreReplaces(Context& context) {
  Driver driver(context);
  const Running running = StartRunning(driver, 5);
  const Saved saved = SaveAll(driver, running.sequence);
  const SequenceId other = driver.Start(driver.Prompt(running.length + 40));
  RestoreAll(driver, other, saved);
  ExpectGoesOn(driver, other, running, "a sequence whose state was replaced");
  // And back to where it was: the state of the snapshot, not of now.
  driver.Draw(running.sequence, 5, Warm(1));
  RestoreAll(driver, running.sequence, saved);
  ExpectGoesOn(driver, running.sequence, running, "the sequence itself, put back");
}

void RestoreOnTheNextLink(Context& context) {
  Running running;
  std::vector<std::pair<SpaceId, std::vector<std::byte>>> kept;
  {
    Driver driver(context);
    running = StartRunning(driver, 5);
    for (const auto& [space, buffer] : SaveAll(driver, running.sequence).buffers) {
      kept.emplace_back(space,
                        std::vector<std::byte>(buffer.segment.data(),
                                               buffer.segment.data() + buffer.segment.size()));
    }
  }
  Driver driver(context);
  Saved saved;
  for (const auto& [space, bytes] : kept) {
    Link::Buffer buffer = driver.AttachBuffer(bytes.size());
    std::copy(bytes.begin(), bytes.end(), buffer.segment.data());
    saved.buffers.emplace(space, std::move(buffer));
  }
  ExpectGoesOn(driver, RestoreNew(driver, saved), running, "a sequence restored on another link");
}

void SnapshotOfAPrefix(Context& context) {
  Driver driver(context);
  const uint64_t boundary = driver.Boundary();
  const Tokens prompt = driver.Prompt(boundary);
  const Tokens plain = driver.Plain(prompt, 8);
  const SequenceId sequence = driver.Start(prompt);
  driver.Run(driver.PrefillLane(sequence, driver.Prompt(boundary)));
  Saved saved;
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    saved.buffers.emplace(space.space_id, SnapshotInto(driver, sequence, space.space_id, boundary));
  }
  ExpectEq(driver.Draw(RestoreNew(driver, saved), 8), plain, "the first half, restored");
}

struct Demoted {
  SpaceId space{};
  linkw::TokenRange range;
  Link::Buffer buffer;
};

Demoted DemoteRange(Driver& driver, SequenceId sequence, SpaceId space, linkw::TokenRange range) {
  const linkw::ExportSizeResult size = SizeOf(driver, sequence, space, range);
  Demoted demoted{.space = space,
                  .range = range,
                  .buffer = driver.AttachBuffer(kEnvelopeBytes + size.required_bytes)};
  const uint64_t moved = MustRun(driver,
                                 linkw::Demote{.sequence = sequence,
                                               .space_id = space,
                                               .range = range,
                                               .buf_id = demoted.buffer.id,
                                               .sizing_gen = size.sizing_gen},
                                 "a demote");
  ExpectEq(moved, size.required_bytes, "[OP-13] bytes_moved of a demote");
  return demoted;
}

void Promote(Driver& driver, SequenceId sequence, const Demoted& demoted) {
  MustRun(driver,
          linkw::Promote{.sequence = sequence,
                         .space_id = demoted.space,
                         .range = demoted.range,
                         .buf_id = demoted.buffer.id},
          "a promote");
}

void DemoteAndPromote(Context& context) {
  Driver driver(context);
  for (int i = 0; i < kCases; ++i) {
    const uint64_t boundary = driver.Boundary();
    const Running running = StartRunning(driver, boundary * 2);
    for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
      // A space that does not grow by token has no parts.
      const bool whole = space.bytes_per_token == 0;
      const uint64_t end = BoundaryOf(driver, running.sequence, space.space_id,
                                      whole ? ~uint64_t{0} : boundary * (1 + context.Random(2)));
      const Demoted demoted = DemoteRange(driver, running.sequence, space.space_id, {0, end});
      driver.ExpectLaneError(driver.DecodeLane(running.sequence, {}, 1),
                             {Status::kFailedPrecondition}, "a lane of a demoted sequence");
      Promote(driver, running.sequence, demoted);
    }
    ExpectGoesOn(driver, running.sequence, running, "the promoted sequence");
    driver.Drop(running.sequence);
  }
}

void DemoteOfAPart(Context& context) {
  Driver driver(context);
  const Running running = StartRunning(driver, driver.Boundary() * 2);
  bool asked = false;
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    if (space.bytes_per_token != 0) continue;
    const linkw::TokenRange part{0, driver.Boundary()};
    const linkw::ExportSizeResult size = SizeOf(driver, running.sequence, space.space_id, part);
    MustFail(driver,
             linkw::Demote{.sequence = running.sequence,
                           .space_id = space.space_id,
                           .range = part,
                           .buf_id = driver.AttachBuffer(kEnvelopeBytes + size.required_bytes).id,
                           .sizing_gen = size.sizing_gen},
             {Status::kInvalidArgument}, "a demote of a part of a space that has none");
    asked = true;
  }
  if (!asked) Skip("every space grows by token");
  ExpectGoesOn(driver, running.sequence, running, "the sequence");
}

void DemotedIsMissing(Context& context) {
  Driver driver(context);
  const Running running = StartRunning(driver, driver.Boundary() * 2);
  const SpaceId space = driver.spaces()[0].space_id;
  const uint64_t end = BoundaryOf(driver, running.sequence, space);
  const Demoted demoted = DemoteRange(driver, running.sequence, space, {0, end});
  driver.ExpectLaneError(driver.DecodeLane(running.sequence, {}, 1), {Status::kFailedPrecondition},
                         "a lane of a demoted sequence");
  if (driver.facts().Has("fork")) {
    driver.Refused(linkw::Fork{.parent = running.sequence}, {Status::kFailedPrecondition},
                   "a fork of a demoted sequence");
  }
  Promote(driver, running.sequence, demoted);
  MustFail(driver,
           linkw::Promote{.sequence = running.sequence,
                          .space_id = space,
                          .range = demoted.range,
                          .buf_id = demoted.buffer.id},
           {Status::kFailedPrecondition, Status::kInvalidArgument}, "a promote of what is there");
  ExpectGoesOn(driver, running.sequence, running, "the promoted sequence");
}

void UnknownBuffer(Context& context) {
  Driver driver(context);
  const Running running = StartRunning(driver, 5);
  const SpaceId space = driver.spaces()[0].space_id;
  const linkw::BufId none{987654321};
  const auto refused = [&driver](const linkw::StateOp& op, std::string_view what) {
    const OpOutcome outcome = RunOp(driver, op);
    Expect(!outcome.accepted, absl::StrCat(View(what), " was accepted"));
    ExpectEq(outcome.status, Status::kUnknownHandle, what);
  };
  refused(linkw::Snapshot{.sequence = running.sequence, .space_id = space, .buf_id = none},
          "a snapshot into no buffer");
  refused(linkw::Demote{.sequence = running.sequence, .space_id = space, .buf_id = none},
          "a demote into no buffer");
  refused(linkw::Restore{.sequence = running.sequence, .space_id = space, .buf_id = none},
          "a restore from no buffer");
  refused(linkw::Promote{.sequence = running.sequence, .space_id = space, .buf_id = none},
          "a promote from no buffer");
  ExpectGoesOn(driver, running.sequence, running, "the sequence");
}

void UnknownSequence(Context& context) {
  Driver driver(context);
  const Running running = StartRunning(driver, 5);
  const Saved saved = SaveAll(driver, running.sequence);
  const auto& [space, buffer] = *saved.buffers.begin();
  const linkw::BufId id = buffer.id;
  const linkw::TokenRange all{0, running.length};
  MustFail(
      driver,
      linkw::Snapshot{
          .sequence = kUnknown, .space_id = space, .boundary_pos = running.length, .buf_id = id},
      {Status::kUnknownHandle}, "a snapshot of an unknown sequence");
  MustFail(driver,
           linkw::Demote{.sequence = kUnknown, .space_id = space, .range = all, .buf_id = id},
           {Status::kUnknownHandle}, "a demote of an unknown sequence");
  MustFail(driver, linkw::Restore{.sequence = kUnknown, .space_id = space, .buf_id = id},
           {Status::kUnknownHandle}, "a restore into an unknown sequence");
  MustFail(driver,
           linkw::Promote{.sequence = kUnknown, .space_id = space, .range = all, .buf_id = id},
           {Status::kUnknownHandle}, "a promote into an unknown sequence");
  MustFail(driver,
           linkw::Restore{.sequence = running.sequence, .space_id = SpaceId(4000), .buf_id = id},
           {Status::kUnknownHandle, Status::kInvalidArgument, Status::kEnvelopeMismatch},
           "an op on an unknown space");
  ExpectGoesOn(driver, running.sequence, running, "the sequence");
}

void StaleSizing(Context& context) {
  Driver driver(context);
  const SequenceId sequence = driver.Start(driver.Prompt(driver.Boundary()));
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    const uint64_t boundary = BoundaryOf(driver, sequence, space.space_id, driver.Boundary());
    const auto size = SizeOf(driver, sequence, space.space_id, {0, boundary});
    const Link::Buffer buffer = driver.AttachBuffer(size.required_bytes + 1'000'000);
    driver.Draw(sequence, 3);
    const linkw::Snapshot stale{.sequence = sequence,
                                .space_id = space.space_id,
                                .boundary_pos = boundary,
                                .buf_id = buffer.id,
                                .sizing_gen = size.sizing_gen};
    // An engine whose export of this range is the same as before may keep the generation.
    const auto now = driver.Call(linkw::ExportSize{
        .sequence = sequence, .space_id = space.space_id, .range = {0, boundary}});
    const auto* size_now = std::get_if<linkw::ExportSizeResult>(&now.reply);
    if (size_now != nullptr && size_now->sizing_gen == size.sizing_gen) continue;
    MustFail(driver, stale, {Status::kFailedPrecondition}, "a stale sizing_gen");
  }
  const SpaceId space = driver.spaces()[0].space_id;
  const uint64_t boundary = BoundaryOf(driver, sequence, space);
  const auto size = SizeOf(driver, sequence, space, {0, boundary});
  const Link::Buffer buffer = driver.AttachBuffer(size.required_bytes + kEnvelopeBytes);
  MustFail(driver,
           linkw::Snapshot{.sequence = sequence,
                           .space_id = space,
                           .boundary_pos = boundary,
                           .buf_id = buffer.id,
                           .sizing_gen = size.sizing_gen + 12345},
           {Status::kFailedPrecondition}, "a sizing_gen that never was");
}

void SmallBuffer(Context& context) {
  Driver driver(context);
  const Running running = StartRunning(driver, driver.Boundary());
  const SpaceId space = driver.spaces()[0].space_id;
  const uint64_t boundary = BoundaryOf(driver, running.sequence, space);
  const auto size = SizeOf(driver, running.sequence, space, {0, boundary});
  for (const uint64_t bytes :
       {uint64_t{1}, uint64_t{159}, uint64_t{160}, kEnvelopeBytes + size.required_bytes - 1}) {
    const Link::Buffer buffer = driver.AttachBuffer(bytes);
    MustFail(driver,
             linkw::Snapshot{.sequence = running.sequence,
                             .space_id = space,
                             .boundary_pos = boundary,
                             .buf_id = buffer.id,
                             .sizing_gen = size.sizing_gen},
             {Status::kInvalidArgument}, absl::StrCat("a buffer of ", bytes, " bytes"));
    MustFail(driver,
             linkw::Demote{.sequence = running.sequence,
                           .space_id = space,
                           .range = {0, boundary},
                           .buf_id = buffer.id,
                           .sizing_gen = size.sizing_gen},
             {Status::kInvalidArgument}, absl::StrCat("a buffer of ", bytes, " bytes"));
  }
  ExpectGoesOn(driver, running.sequence, running, "the sequence");
}

void WithoutAKind(Context& context) {
  Link link(context);
  link.ExpectRefused(
      link.peer().SendFrame(static_cast<uint16_t>(linkw::MessageType::kStateOpSubmit), ""),
      {Status::kInvalidArgument, Status::kUnsupported}, "an op without a kind");
}

}  // namespace

void AddStateOpChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, Ops(), Pace::kAny, 40});
  };
  add("OP-1 OP-7 OP-11 OP-13 DRAW-2", "snapshot and restore", SnapshotAndRestore);
  add("OP-11", "a restore replaces what is there", RestoreReplaces);
  add("OP-11", "a restore on the next link", RestoreOnTheNextLink);
  add("OP-11 SEQ-10", "a snapshot of a prefix", SnapshotOfAPrefix);
  add("OP-12 OP-13 DRAW-2", "demote and promote", DemoteAndPromote);
  add("OP-16 OP-9", "a demote of a part of what has none", DemoteOfAPart);
  add("OP-12", "what is demoted is missing", DemotedIsMissing);
  add("OP-3 OP-9 ERR-1", "an unknown buffer", UnknownBuffer);
  add("OP-4 OP-9 SEQ-9", "an unknown sequence", UnknownSequence);
  add("OP-4 OP-5 SEQ-11", "a stale sizing_gen", StaleSizing);
  add("OP-4 OP-6 OP-9", "a buffer that is too small", SmallBuffer);
  checks.push_back({"OP-15 ERR-1", "an op without a kind", WithoutAKind});
}

}  // namespace superfluid::conformance
