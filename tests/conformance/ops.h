#ifndef SUPERFLUID_TESTS_CONFORMANCE_OPS_H_
#define SUPERFLUID_TESTS_CONFORMANCE_OPS_H_

#include <cstdint>
#include <map>
#include <string_view>

#include "protocol/messages/messages.h"
#include "tests/conformance/driver.h"

namespace superfluid::conformance {

using linkw::OpState;
using linkw::SpaceId;

inline constexpr uint64_t kEnvelopeBytes = 160;

// How an op ended: refused, or done.
struct OpOutcome {
  bool accepted = false;
  Status status = Status::kOk;  // of the refusal or of the DONE
  linkw::StateOpDone done;      // if accepted
};

// The DONE of an accepted op.
linkw::StateOpDone AwaitDone(Link& link, uint64_t seq);
OpOutcome RunOp(Link& link, const linkw::StateOp& op);
// The op must end DONE; what it moved.
uint64_t MustRun(Link& link, const linkw::StateOp& op, std::string_view what);
// The op must be refused, or FAILED, with one of these statuses.
void MustFail(Link& link, const linkw::StateOp& op, Statuses statuses, std::string_view what);

linkw::ExportSizeResult SizeOf(Link& link, SequenceId sequence, SpaceId space,
                               linkw::TokenRange range);
uint64_t BoundaryOf(Link& link, SequenceId sequence, SpaceId space, uint64_t cap = ~uint64_t{0});

// All of a sequence's state, a buffer a space.
struct Saved {
  std::map<SpaceId, Link::Buffer> buffers;
};
Saved SaveAll(Driver& driver, SequenceId sequence);
// Into a sequence of any content.
void RestoreAll(Driver& driver, SequenceId sequence, const Saved& saved);
SequenceId RestoreNew(Driver& driver, const Saved& saved);

// Cuts every space.
void TrimAll(Driver& driver, SequenceId sequence, uint64_t new_len);

// Snapshot of [0, boundary) into a new buffer of exactly the size needed.
Link::Buffer SnapshotInto(Link& link, SequenceId sequence, SpaceId space, uint64_t boundary);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_OPS_H_
