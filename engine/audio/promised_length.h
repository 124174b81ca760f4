#ifndef SUPERFLUID_ENGINE_AUDIO_PROMISED_LENGTH_H_
#define SUPERFLUID_ENGINE_AUDIO_PROMISED_LENGTH_H_

#include <cstdint>
#include <optional>

#include "engine/audio/byte_source.h"

namespace superfluid {

// What a container says of its own length, as far as it can be held against it: decoders follow the
// bytes that are there and do not mind those that are missing.
struct PromisedLength {
  // Frames that a reader must have got at the end of a whole file; less means that the file is cut
  // short. nullopt: the container promises nothing that could be checked.
  std::optional<int64_t> frames;
  int64_t slack_frames = 0;  // by so many the promise of a whole file may be wrong
  // The file certainly ends before its end, however many frames that are missing.
  bool ends_early = false;
};

// Reads the containers' own structure: the chunk with the samples of wav (RIFF, RIFX, RF64), w64
// and aiff, the header of au, the Xing, Info or VBRI frame of mp3, and whether the last page of an
// ogg file is whole. Lengths that stand for "not known when this was written" (0 and the huge ones
// that programs write into a pipe) promise nothing, nor does an mp3 without such a frame, nor any
// other format.
//
// `frames_there` is what the decoder takes the length to be: of what is there, but for mp3 of what
// was promised. Reads a few bytes of each chunk, and the last 128 KiB of an ogg. Threads: any.
PromisedLength ReadPromisedLength(ByteSource& bytes, int64_t frames_there, int rate_hz);

// Where a wav (RIFF, RIFX) has the length of its samples, if more samples follow than it says: its
// writer was killed, or the length did not fit into 32 bits. What follows is taken to be samples
// unless it is chunks or a tag. nullopt: the length is right, or says too much. Threads: any.
std::optional<int64_t> FindUnderstatedLength(ByteSource& bytes);

// Where the bytes begin that follow any number of ID3v2 tags. Threads: any.
int64_t AfterId3Tags(ByteSource& bytes);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_PROMISED_LENGTH_H_
