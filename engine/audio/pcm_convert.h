#ifndef SUPERFLUID_ENGINE_AUDIO_PCM_CONVERT_H_
#define SUPERFLUID_ENGINE_AUDIO_PCM_CONVERT_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/audio/pcm_format.h"

namespace superfluid {

// Converts whole little-endian samples to floats (s16: divided by 32768), one float a sample, into
// the front of `out`, which has room for them. Reads each byte of `bytes` once. Threads: any.
void PcmToFloat(absl::Span<const std::byte> bytes, PcmEncoding encoding, absl::Span<float> out);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_PCM_CONVERT_H_
