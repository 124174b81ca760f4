#ifndef SUPERFLUID_ENGINE_AUDIO_PCM_H_
#define SUPERFLUID_ENGINE_AUDIO_PCM_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/audio/audio_source.h"
#include "engine/audio/pcm_format.h"

namespace superfluid {

// InvalidArgument if the rate, the channel count or the encoding is out of range.
absl::Status ValidatePcmFormat(const PcmFormat& format);

// Recorded PCM in memory; a last incomplete frame is ignored. `bytes` may change while they are
// read, as for OpenAudioMemory, and are kept by `keepalive`. Errors: InvalidArgument for a format
// out of range or bytes that hold not a single frame. Threads: one at a time.
absl::StatusOr<std::unique_ptr<AudioSource>> OpenPcm(absl::Span<const std::byte> bytes,
                                                     std::shared_ptr<const void> keepalive,
                                                     const PcmFormat& format);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_PCM_H_
