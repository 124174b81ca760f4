#ifndef SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_
#define SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/audio/byte_source.h"
#include "engine/audio/frame_reader.h"

namespace superfluid {

// A file, or one of several in a row, as libsndfile reads it.
class SoundReader : public FrameReader {
 public:
  // The byte up to which the library has read, or looked ahead, in its way through the file.
  virtual int64_t position() const = 0;
};

// Decodes `bytes` with libsndfile. Errors: InvalidArgument for an empty source, one that
// libsndfile does not recognise or refuses, or that has more than kMaxAudioChannels. Errors of
// ReadFrames: InvalidArgument when the data are damaged, or end before the length in frames that
// their container promises (see promised_length.h), or get fewer while they are read. A wav that
// says less than it holds is read to its end. Of files in a row (ogg, flac) the first is read.
//
// libsndfile trusts its input in places, so what it may read is rationed: a file that makes it read
// its own bytes over and over ends there, as damaged.
absl::StatusOr<std::unique_ptr<SoundReader>> OpenSoundReader(std::unique_ptr<ByteSource> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_SOUND_READER_H_
