#ifndef SUPERFLUID_TESTS_DEVICE_PROBES_H_
#define SUPERFLUID_TESTS_DEVICE_PROBES_H_

#include <string>

#include "tests/device/probe_options.h"
#include "tests/device/probe_worker.h"

namespace superfluid::device {

// Draws from the same prompts on both. Where the device draws another token than the CPU, the CPU
// must find the two about equally likely; what comes after it says nothing. Prints a check; returns
// whether it passed.
bool CompareDraws(ProbeWorker& device, ProbeWorker& cpu, const ProbeOptions& options);

// Prints a check: the worker says that its engine has this backend and, if it says what it computes
// on, that it is this. Returns whether it passed.
bool CheckBackend(const ProbeWorker& device, const std::string& backend);

// Prints figures: tokens a second of a prefill, of one lane and of several; how long it takes until
// a deadline that passes in the middle of a prefill has ended it. Prints a check: after all of it
// the worker draws what it drew before. Returns whether it passed.
bool MeasureSpeed(ProbeWorker& device, const ProbeOptions& options);

}  // namespace superfluid::device

#endif  // SUPERFLUID_TESTS_DEVICE_PROBES_H_
