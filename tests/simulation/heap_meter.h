#ifndef SUPERFLUID_TESTS_SIMULATION_HEAP_METER_H_
#define SUPERFLUID_TESTS_SIMULATION_HEAP_METER_H_

#include <cstdint>

namespace superfluid::simulation {

// Returns the bytes that operator new gave out and operator delete did not get back, of the whole
// process; 0 in builds with a sanitizer, which has an allocator of its own. heap_meter.cc replaces
// both operators in a program that links it.
int64_t LiveHeapBytes();

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_HEAP_METER_H_
