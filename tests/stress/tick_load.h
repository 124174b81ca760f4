#ifndef SUPERFLUID_TESTS_STRESS_TICK_LOAD_H_
#define SUPERFLUID_TESTS_STRESS_TICK_LOAD_H_

#include <cstdint>

#include "tests/stress/references.h"
#include "tests/stress/soak_link.h"

namespace superfluid::stress {

// Draws what the references say, several at a time, in ticks of random size, until the link stops:
// prompts in chunks, draws in pieces, with and without emits, some stopped by a stop bit or a
// deadline and gone on with, some forked, some published to the prefix cache or begun from it.
// `number` of this load on its link, from 0: it uses stop bits and lane tags of its own.
//
// Outcomes: tick.done, tick.stopped, tick.deadline, draw.done, draw.forked, cache.published,
// cache.leased. Latency: tick.stop (from the stop bit to the result), tick.took.
void RunTickLoad(SoakLink& link, const References& references, uint64_t seed, uint32_t number);

}  // namespace superfluid::stress

#endif  // SUPERFLUID_TESTS_STRESS_TICK_LOAD_H_
