#ifndef SUPERFLUID_ACTORS_STATE_ENVELOPE_H_
#define SUPERFLUID_ACTORS_STATE_ENVELOPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/handles.h"

namespace superfluid {

// What precedes exported state in a buffer: which state it is, and how to see that it is whole.
// Little-endian:
//
//   offset  size  field
//        0     8  magic "SFLSTATE"
//        8     4  version, 1
//       12     4  bytes of this header, 160
//       16    32  compat_key of the state space
//       48    32  provenance: what the state was computed from
//       80     4  space_id
//       84     4  encoding
//       88     8  first token
//       96     8  past the last token
//      104     8  payload bytes, right after this header
//      112     8  XXH3-64 of the payload
//      120    32  0
//      152     8  XXH3-64 of the 152 bytes before
//
// The checksums find damage, not malice: a peer can seal what it likes. Engines check what they
// import.
inline constexpr size_t kStateEnvelopeBytes = 160;

struct StateEnvelope {
  Digest compat_key{};
  Digest provenance{};
  SpaceId space{};
  uint32_t encoding = 0;
  TokenRange range;
  uint64_t payload_bytes = 0;
  uint64_t payload_checksum = 0;
  friend bool operator==(const StateEnvelope&, const StateEnvelope&) = default;
};

using StateEnvelopeBytes = std::array<std::byte, kStateEnvelopeBytes>;

StateEnvelopeBytes SealEnvelope(const StateEnvelope& envelope);

// Reads the first bytes of a sealed buffer of `buffer_bytes`. Errors, all ENVELOPE_MISMATCH: wrong
// magic, version or size; a checksum that does not match; bytes that must be 0; a range that ends
// before it starts; a payload that does not fit into the buffer.
absl::StatusOr<StateEnvelope> OpenEnvelope(const StateEnvelopeBytes& bytes, uint64_t buffer_bytes);

// XXH3-64 of the payload. `bytes` may change while it is read.
uint64_t PayloadChecksum(absl::Span<const std::byte> bytes);

// Copies the payload from shared into private memory and checks the copy. Errors:
// ENVELOPE_MISMATCH. `from` and `to` have envelope.payload_bytes.
absl::Status CopyPayload(const StateEnvelope& envelope, absl::Span<const std::byte> from,
                         absl::Span<std::byte> to);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_ENVELOPE_H_
