#ifndef SUPERFLUID_ACTORS_MESSAGES_IMPORTED_STATE_H_
#define SUPERFLUID_ACTORS_MESSAGES_IMPORTED_STATE_H_

#include <cstddef>
#include <memory>

#include "absl/types/span.h"
#include "protocol/codec/state_envelope.h"

namespace superfluid {

// State that was copied out of a peer's buffer and found whole.
struct ImportedState {
  linkw::StateEnvelope envelope;
  std::unique_ptr<std::byte[]> bytes;  // NOLINT(modernize-avoid-c-arrays): not zeroed first
  absl::Span<const std::byte> payload() const { return {bytes.get(), envelope.payload_bytes}; }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_MESSAGES_IMPORTED_STATE_H_
