#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_AUDIO_KIND_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_AUDIO_KIND_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace superfluid::ctl {

// How many bytes from the beginning of a file tell what it is.
inline constexpr size_t kAudioKindBytes = 12;

// "RIFF", a length and "WAVE".
bool BeginsAsWav(std::string_view begin);

// What the file that begins with these bytes is, if it is a kind of file in which recordings
// usually come: "a WAV file", "a FLAC file". Empty: raw samples, for all we can see. MP3 without a
// tag cannot be told from samples. Pure.
std::string RecordingKind(std::string_view begin);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_AUDIO_KIND_H_
