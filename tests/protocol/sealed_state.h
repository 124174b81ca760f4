#ifndef SUPERFLUID_TESTS_PROTOCOL_SEALED_STATE_H_
#define SUPERFLUID_TESTS_PROTOCOL_SEALED_STATE_H_

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "protocol/codec/state_envelope.h"

namespace superfluid::linkw {

template <typename T>
void PutAt(std::string& bytes, size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// Makes the envelope's own checksum right again.
inline void FixEnvelope(std::string& sealed) {
  PutAt(sealed, 152, uint64_t{XXH3_64bits(sealed.data(), 152)});
}

// Sealed state as a worker writes it; payload_bytes and payload_hash come from `payload`.
inline std::string SealState(const StateEnvelope& envelope, std::string_view payload) {
  std::string sealed(kStateEnvelopeBytes, '\0');
  std::memcpy(sealed.data(), "SFLSTATE", 8);
  PutAt(sealed, 8, uint32_t{1});
  PutAt(sealed, 12, uint32_t{160});
  PutAt(sealed, 16, envelope.compat_key);
  PutAt(sealed, 48, envelope.provenance);
  PutAt(sealed, 80, envelope.space_id);
  PutAt(sealed, 84, envelope.encoding);
  PutAt(sealed, 88, envelope.range.start);
  PutAt(sealed, 96, envelope.range.end);
  PutAt(sealed, 104, uint64_t{payload.size()});
  PutAt(sealed, 112, uint64_t{XXH3_64bits(payload.data(), payload.size())});
  FixEnvelope(sealed);
  sealed.append(payload);
  return sealed;
}

inline absl::Span<const std::byte> AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_SEALED_STATE_H_
