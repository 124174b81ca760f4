#ifndef SUPERFLUID_PROTOCOL_CODEC_STATE_ENVELOPE_H_
#define SUPERFLUID_PROTOCOL_CODEC_STATE_ENVELOPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "protocol/messages/messages.h"

namespace superfluid::linkw {

// The envelope of sealed state as a snapshot leaves it in a buffer: 160 bytes, then the payload.
// Little-endian:
//
//     0  8  magic "SFLSTATE"           88  8  range start         112  8  XXH3-64 of the payload
//     8  4  version 1                  96  8  range end           120 32  0
//    12  4  header bytes, 160         104  8  payload bytes       152  8  XXH3-64 of bytes 0..151
//    16 32  compat key
//    48 32  provenance digest
//    80  4  space id
//    84  4  encoding
inline constexpr size_t kStateEnvelopeBytes = 160;

struct StateEnvelope {
  Hash compat_key{};
  Hash provenance{};
  SpaceId space_id{};
  uint32_t encoding = 0;
  TokenRange range;
  uint64_t payload_bytes = 0;
  uint64_t payload_hash = 0;

  uint64_t sealed_bytes() const { return kStateEnvelopeBytes + payload_bytes; }
  bool operator==(const StateEnvelope&) const = default;
};

using StateEnvelopeBytes = std::array<std::byte, kStateEnvelopeBytes>;

// The first bytes of sealed state. The checksums find damage, not malice: whoever can write a
// buffer can seal what it likes.
StateEnvelopeBytes SealStateEnvelope(const StateEnvelope& envelope);

// Reads the envelope of sealed state that has `sealed_bytes` bytes or more, payload included. The
// payload is not looked at. kEnvelopeMismatch, with what is wrong: magic, version, header bytes,
// checksum, reserved bytes, range, a payload that does not fit.
absl::StatusOr<StateEnvelope> ParseStateEnvelope(const StateEnvelopeBytes& bytes,
                                                 uint64_t sealed_bytes);

// The same for sealed state in private memory, which may be longer; also kEnvelopeMismatch if it is
// shorter than an envelope.
absl::StatusOr<StateEnvelope> ParseStateEnvelope(absl::Span<const std::byte> sealed);

// The same, and holds the payload against its checksum.
absl::StatusOr<StateEnvelope> CheckSealedState(absl::Span<const std::byte> sealed);

// The checksum that the envelope and files of ours use.
uint64_t StateHash(absl::Span<const std::byte> bytes);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_STATE_ENVELOPE_H_
