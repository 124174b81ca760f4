#ifndef SUPERFLUID_ENGINE_AUDIO_MPEG_READER_H_
#define SUPERFLUID_ENGINE_AUDIO_MPEG_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/audio/byte_source.h"
#include "engine/audio/frame_reader.h"

namespace superfluid {

// Whether `bytes` look like MPEG audio (mp3, mp2): a frame at the start, or behind ID3v2 tags.
bool LooksLikeMpeg(ByteSource& bytes);

// Decodes MPEG audio with libmpg123, which follows the frames to the end of the bytes: through
// files that were joined, and behind what is damaged. Stretches that are no frames are counted in
// Remark().
//
// Errors: InvalidArgument when no frame can be decoded. Errors of ReadFrames: InvalidArgument when
// the data end before the length that a Xing, Info or VBRI frame promises, or get fewer while they
// are read. Threads: one at a time.
absl::StatusOr<std::unique_ptr<FrameReader>> OpenMpegReader(std::unique_ptr<ByteSource> bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_MPEG_READER_H_
