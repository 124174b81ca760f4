#ifndef SUPERFLUID_ACTORS_RUNTIME_STATUS_ERROR_H_
#define SUPERFLUID_ACTORS_RUNTIME_STATUS_ERROR_H_

#include "absl/status/status.h"
#include "caf/error.hpp"

namespace superfluid {

// The one bridge between the two kinds of error: a status travels in a caf::error with its code and
// its text, and comes back as it was (payloads are dropped). CAF's own errors become a status: a
// request that timed out is DeadlineExceeded, a receiver that is gone Unavailable, the rest
// Internal.
caf::error ToError(const absl::Status& status);
absl::Status ToStatus(const caf::error& error);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_STATUS_ERROR_H_
