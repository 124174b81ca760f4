#ifndef SUPERFLUID_ENGINE_ABI_STATUS_CODES_H_
#define SUPERFLUID_ENGINE_ABI_STATUS_CODES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// Between absl's status codes and those of the C interface, which have the same numbers. A number
// that is no code becomes Internal, with a text that says so; so does UNAUTHENTICATED, which the C
// interface does not have. Threads: any.
absl::Status StatusFromAbi(sfl_status code, absl::string_view message);
sfl_status StatusCodeToAbi(absl::StatusCode code);

// Writes the message into `error`, which may be null, and returns the code.
sfl_status StatusToAbi(const absl::Status& status, sfl_error* error);

// For a catch clause: the exception being handled as a status. bad_alloc is ResourceExhausted,
// anything else Internal with what() in its text; `who` threw it.
absl::Status StatusFromCurrentException(absl::string_view who);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_STATUS_CODES_H_
