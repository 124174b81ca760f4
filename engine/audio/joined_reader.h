#ifndef SUPERFLUID_ENGINE_AUDIO_JOINED_READER_H_
#define SUPERFLUID_ENGINE_AUDIO_JOINED_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/audio/byte_source.h"
#include "engine/audio/frame_reader.h"

namespace superfluid {

// Decodes a file as OpenSoundReader does, and goes on with what follows: ogg and flac files that
// were joined are one after the other in it, each with a rate and channels of its own.
//
// Errors of opening: those of OpenSoundReader for the first file. Errors of ReadFrames: those of
// its reader, and InvalidArgument when a later file cannot be opened or an ogg ends within a page.
// Threads: one at a time.
absl::StatusOr<std::unique_ptr<FrameReader>> OpenJoinedReader(std::unique_ptr<ByteSource> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_JOINED_READER_H_
