#ifndef SUPERFLUID_ACTORS_IMPORT_COPY_H_
#define SUPERFLUID_ACTORS_IMPORT_COPY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/cancel_token.h"
#include "protocol/state_envelope.h"

namespace superfluid {

// Copies sealed state out of memory that the peer may still change, and holds the copy against its
// checksum. `from` and `to` have the payload's bytes. Looks at `token` between pieces that take
// microseconds. Errors: ENVELOPE_MISMATCH (damaged, also if it changed meanwhile), Cancelled.
absl::Status CopyImport(const linkw::StateEnvelope& envelope, absl::Span<const std::byte> from,
                        absl::Span<std::byte> to, const CancelToken& token);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_IMPORT_COPY_H_
