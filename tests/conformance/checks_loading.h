#ifndef SUPERFLUID_TESTS_CONFORMANCE_CHECKS_LOADING_H_
#define SUPERFLUID_TESTS_CONFORMANCE_CHECKS_LOADING_H_

#include <vector>

#include "tests/conformance/check.h"

namespace superfluid::conformance {

// Of the handshake's family: a worker that starts, in a process of its own.
void AddLoadingChecks(std::vector<Check>& checks);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_CHECKS_LOADING_H_
