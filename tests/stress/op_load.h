#ifndef SUPERFLUID_TESTS_STRESS_OP_LOAD_H_
#define SUPERFLUID_TESTS_STRESS_OP_LOAD_H_

#include <cstdint>

#include "tests/stress/references.h"
#include "tests/stress/soak_link.h"

namespace superfluid::stress {

// Snapshots sequences, restores them into others, demotes and promotes them, until the link stops.
// Whatever was moved goes on as its reference says; what was cancelled has changed nothing.
//
// Outcomes: op.done, op.cancelled, op.cancelled_late (it had finished), op.round_trip,
// op.demoted. Latency: op.cancel (from the cancel to the DONE).
void RunOpLoad(SoakLink& link, const References& references, uint64_t seed);

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_OP_LOAD_H_
