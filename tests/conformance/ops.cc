#include "tests/conformance/ops.h"

#include <algorithm>
#include <utility>

namespace superfluid::conformance {

linkw::StateOpDone AwaitDone(Link& link, uint64_t seq) {
  const Received received = link.peer().Take(
      [seq](const Received& r) {
        return r.correlation == seq && std::holds_alternative<linkw::StateOpDone>(r.message);
      },
      "STATE_OP_DONE");
  auto done = std::get<linkw::StateOpDone>(received.message);
  ExpectEq(done.error == Status::kOk, done.state == OpState::kDone, "[OP-1] DONE means OK");
  return done;
}

OpOutcome RunOp(Link& link, const linkw::StateOp& op) {
  const uint64_t seq = link.Send(linkw::StateOpSubmit{op});
  const auto accepted = link.peer().Await<linkw::StateOpAccepted>(seq);
  OpOutcome outcome{.accepted = accepted.status == Status::kOk, .status = accepted.status};
  if (!outcome.accepted) return outcome;
  outcome.done = AwaitDone(link, seq);
  outcome.status = outcome.done.error;
  return outcome;
}

uint64_t MustRun(Link& link, const linkw::StateOp& op, std::string_view what) {
  const OpOutcome outcome = RunOp(link, op);
  if (outcome.status != Status::kOk) {
    Fail(absl::StrCat(View(what), ": ", outcome.accepted ? Show(outcome.done.state) : "refused",
                      " with ", Show(outcome.status), " ", Show(outcome.done.message)));
  }
  return outcome.done.bytes_moved;
}

void MustFail(Link& link, const linkw::StateOp& op, Statuses statuses, std::string_view what) {
  const OpOutcome outcome = RunOp(link, op);
  const bool as_told =
      std::find(statuses.begin(), statuses.end(), outcome.status) != statuses.end();
  if (!as_told) {
    Fail(absl::StrCat(View(what), ": saw ", Show(outcome.status), ", expected ", Names(statuses)));
  }
  if (outcome.accepted) ExpectEq(outcome.done.state, OpState::kFailed, what);
  link.Ping();
}

linkw::ExportSizeResult SizeOf(Link& link, SequenceId sequence, SpaceId space,
                               linkw::TokenRange range) {
  return link.Ok<linkw::ExportSizeResult>(
      linkw::ExportSize{.sequence = sequence, .space_id = space, .range = range});
}

uint64_t BoundaryOf(Link& link, SequenceId sequence, SpaceId space, uint64_t cap) {
  return link
      .Ok<linkw::SnapshotBoundaryResult>(
          linkw::SnapshotBoundary{.sequence = sequence, .space_id = space, .cap = cap})
      .boundary;
}

Link::Buffer SnapshotInto(Link& link, SequenceId sequence, SpaceId space, uint64_t boundary) {
  const linkw::ExportSizeResult size = SizeOf(link, sequence, space, {0, boundary});
  Link::Buffer buffer = link.AttachBuffer(kEnvelopeBytes + size.required_bytes);
  const uint64_t moved = MustRun(link,
                                 linkw::Snapshot{.sequence = sequence,
                                                 .space_id = space,
                                                 .boundary_pos = boundary,
                                                 .buf_id = buffer.id,
                                                 .sizing_gen = size.sizing_gen},
                                 "a snapshot");
  ExpectEq(moved, size.required_bytes, "[OP-13] bytes_moved of a snapshot");
  return buffer;
}

Saved SaveAll(Driver& driver, SequenceId sequence) {
  Saved saved;
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    const uint64_t boundary = BoundaryOf(driver, sequence, space.space_id);
    saved.buffers.emplace(space.space_id, SnapshotInto(driver, sequence, space.space_id, boundary));
  }
  return saved;
}

void RestoreAll(Driver& driver, SequenceId sequence, const Saved& saved) {
  for (const auto& [space, buffer] : saved.buffers) {
    MustRun(driver, linkw::Restore{.sequence = sequence, .space_id = space, .buf_id = buffer.id},
            "a restore");
  }
}

SequenceId RestoreNew(Driver& driver, const Saved& saved) {
  const SequenceId sequence =
      driver.Ok<linkw::CreateSequenceResult>(linkw::CreateSequence{}).sequence;
  RestoreAll(driver, sequence, saved);
  return sequence;
}

void TrimAll(Driver& driver, SequenceId sequence, uint64_t new_len) {
  for (const linkw::StateSpaceDescriptor& space : driver.spaces()) {
    driver.Ok<linkw::TrimResult>(
        linkw::Trim{.sequence = sequence, .space_id = space.space_id, .new_len = new_len});
  }
}

}  // namespace superfluid::conformance
