#ifndef SUPERFLUID_ENGINE_AUDIO_PCM_FORMAT_H_
#define SUPERFLUID_ENGINE_AUDIO_PCM_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace superfluid {

// Interleaved samples without a header, little-endian.
enum class PcmEncoding : uint8_t { kS16 = 0, kF32 = 1 };

struct PcmFormat {
  int rate_hz = 16000;  // kMinAudioRateHz..kMaxAudioRateHz
  int channels = 1;     // 1..kMaxAudioChannels
  PcmEncoding encoding = PcmEncoding::kS16;

  size_t frame_bytes() const {
    return static_cast<size_t>(channels) * (encoding == PcmEncoding::kS16 ? 2 : 4);
  }
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_PCM_FORMAT_H_
