#include "engine/audio/pcm_convert.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace superfluid {

static_assert(std::endian::native == std::endian::little, "PCM is read in the machine's order");

void PcmToFloat(absl::Span<const std::byte> bytes, PcmEncoding encoding, absl::Span<float> out) {
  if (encoding == PcmEncoding::kF32) {
    std::memcpy(out.data(), bytes.data(), bytes.size() / sizeof(float) * sizeof(float));
    return;
  }
  for (size_t i = 0; i < bytes.size() / 2; ++i) {
    int16_t sample = 0;
    std::memcpy(&sample, bytes.data() + 2 * i, sizeof(sample));
    out[i] = static_cast<float>(sample) / 32768.0F;
  }
}

}  // namespace superfluid
