#ifndef SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_
#define SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/audio/byte_source.h"
#include "engine/audio/frame_reader.h"

namespace superfluid {

// Decodes `bytes` with libsndfile. Errors: InvalidArgument for an empty source, one that
// libsndfile does not recognise or refuses, or that has more than kMaxAudioChannels. Errors of
// ReadFrames: InvalidArgument when the data are damaged, or end before the length that their
// container promises (see promised_length.h), or get fewer while they are read.
//
// libsndfile trusts its input in places, so what it may read is rationed: a file that makes it read
// its own bytes over and over ends there, as damaged.
absl::StatusOr<std::unique_ptr<FrameReader>> OpenSoundReader(std::unique_ptr<ByteSource> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_
