#ifndef SUPERFLUID_TESTS_CONFORMANCE_CONNECT_H_
#define SUPERFLUID_TESTS_CONFORMANCE_CONNECT_H_

#include <string>

#include "shm/owned_fd.h"

namespace superfluid::conformance {

// A connection to the Unix socket at `path`; empty if there is none to be had.
OwnedFd ConnectUnix(const std::string& path);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_CONNECT_H_
