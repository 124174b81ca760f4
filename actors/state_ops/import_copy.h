#ifndef SUPERFLUID_ACTORS_STATE_OPS_IMPORT_COPY_H_
#define SUPERFLUID_ACTORS_STATE_OPS_IMPORT_COPY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/cancel_token.h"
#include "engine/state_job.h"
#include "protocol/codec/state_envelope.h"

namespace superfluid {

// Whether `envelope` may be state of `space`, by its range and the payload's size: before memory is
// taken for a payload that costs its peer nothing (a file of holes). `context_tokens`: a sequence's
// most; 0: not known. Errors: ENVELOPE_MISMATCH.
absl::Status CheckImportSize(const linkw::StateEnvelope& envelope, const StateSpace& space,
                             uint64_t context_tokens);

// Copies sealed state out of memory that the peer may still change, and holds the copy against its
// checksum. `from` and `to` have the payload's bytes. Looks at `token` between pieces that take
// microseconds. Errors: ENVELOPE_MISMATCH (damaged, also if it changed meanwhile), Cancelled.
absl::Status CopyImport(const linkw::StateEnvelope& envelope, absl::Span<const std::byte> from,
                        absl::Span<std::byte> to, const CancelToken& token);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_IMPORT_COPY_H_
