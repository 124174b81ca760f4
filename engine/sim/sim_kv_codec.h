#ifndef SUPERFLUID_ENGINE_SIM_SIM_KV_CODEC_H_
#define SUPERFLUID_ENGINE_SIM_SIM_KV_CODEC_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/sim/sim_model.h"

namespace superfluid {

inline constexpr uint32_t kSimRawEncoding = 0;
// A header of 8 bytes (magic u32, rows u32, little-endian), then the first bytes of all rows, then
// the second ones, and so on, each byte XOR 0x5A.
inline constexpr uint32_t kSimPlanesEncoding = 1;
inline constexpr uint64_t kSimKvEncodings = 0b11;
inline constexpr uint64_t kSimRecurrentEncodings = 0b1;

using SimRowBytes = std::array<std::byte, kSimRowBytes>;

uint64_t SimKvBytes(uint64_t rows, uint32_t encoding);

// Writes rows in any order; the memory is never read.
class SimKvWriter {
 public:
  // `out` has SimKvBytes.
  SimKvWriter(uint64_t rows, uint32_t encoding, absl::Span<std::byte> out);
  void Put(uint64_t index, const SimRowBytes& row);

 private:
  const uint64_t rows_;
  const uint32_t encoding_;
  const absl::Span<std::byte> out_;
};

class SimKvReader {
 public:
  SimKvReader(uint64_t rows, uint32_t encoding, absl::Span<const std::byte> bytes)
      : rows_(rows), encoding_(encoding), bytes_(bytes) {}
  // InvalidArgument: not SimKvBytes, or another header. Do not read rows then.
  absl::Status Check() const;
  SimRowBytes Get(uint64_t index) const;

 private:
  const uint64_t rows_;
  const uint32_t encoding_;
  const absl::Span<const std::byte> bytes_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_SIM_SIM_KV_CODEC_H_
