#ifndef SUPERFLUID_TOOLS_DECODE_DECODER_PROGRAM_H_
#define SUPERFLUID_TOOLS_DECODE_DECODER_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"

namespace superfluid::decode {

// Finds superfluid_decode: what $SUPERFLUID_DECODER names; else beside this program, in its Bazel
// runfiles or those of $RUNFILES_DIR. Errors: NotFound, with the places where it was looked for.
absl::StatusOr<std::string> FindDecoder();

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_DECODER_PROGRAM_H_
