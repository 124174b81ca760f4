#ifndef SUPERFLUID_ENGINE_AUDIO_AUDIO_FILE_H_
#define SUPERFLUID_ENGINE_AUDIO_AUDIO_FILE_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/audio/audio_limits.h"
#include "engine/audio/audio_source.h"

namespace superfluid {

// Opens recorded audio of any format that libsndfile knows (wav, flac, ogg with vorbis or opus,
// mp3, aiff, au, caf, ...), of any rate and channel count within audio_limits.h: channels are
// averaged, the rate is converted to kEngineSampleRateHz, samples that are not finite become 0 and
// the rest is clipped to [-1, 1]. Decoding happens in blocks as the source is read; memory does not
// depend on the length of the file, nor on what its header claims. Opening decodes the first block.
//
// `name` is what error texts call the file: what the client called it.
//
// Internal, of opening and of Read: the system cannot read the file (an I/O error, a lost mount).
// Other errors of opening, all InvalidArgument: an empty file, one whose format is not recognised
// or whose header is damaged, one that holds no audio (a header only), a rate or channel count
// beyond the limits. Other errors of AudioSource::Read, all InvalidArgument, after whatever could
// be decoded was delivered: the data are damaged; they end before the length that the container
// promises (flac, wav, w64, aiff, au, mp3 with a Xing, Info or VBRI frame, ogg in the middle of a
// page; a length that stands for "not known", such as the 4 GB of a wav that was written into a
// pipe, promises nothing); the file gets shorter while it is read; the audio lasts longer than
// `limits` allow.
//
// Threads: any one thread at a time, like AudioSource.

// Takes ownership of `fd` in every case, a failure included. The descriptor must be of a regular
// file that is open for reading; its position does not matter.
absl::StatusOr<std::unique_ptr<AudioSource>> OpenAudioFile(int fd, std::string_view name,
                                                           const AudioLimits& limits = {});

// The same over a whole encoded file in memory. Nobody else needs to hold `bytes` still: they may
// be a shared segment that a peer rewrites while it is read (the audio is then rubbish or an error,
// never an access outside of `bytes`). `keepalive` is held as long as the source lives.
absl::StatusOr<std::unique_ptr<AudioSource>> OpenAudioMemory(absl::Span<const std::byte> bytes,
                                                             std::shared_ptr<const void> keepalive,
                                                             std::string_view name,
                                                             const AudioLimits& limits = {});

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_AUDIO_FILE_H_
