#ifndef SUPERFLUID_TESTS_TOOLS_DECODE_MEDIA_H_
#define SUPERFLUID_TESTS_TOOLS_DECODE_MEDIA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "shm/owned_fd.h"

namespace superfluid::decode {

// Runs ffmpeg so that it makes a file of this name (its end says the format) in the test's folder,
// and gives the path. Fails the test if it cannot.
std::string MakeMedia(const std::string& name, const std::vector<std::string>& arguments);

// Arguments of ffmpeg for `seconds` of a tone of 440 Hz.
std::vector<std::string> Tone(double seconds, int rate_hz = 44100);

std::string WriteFile(const std::string& name, const std::string& bytes);
std::string ReadFile(const std::string& path);
OwnedFd OpenFile(const std::string& path);
OwnedFd MemfdOf(const std::string& bytes);

// A recording in AMR that no encoder of Debian makes: `frames` of 20 ms, of any contents.
std::string AmrBytes(size_t frames);

// Reads to the end. Floats, little-endian.
std::vector<float> ReadSamples(int fd);

// How often the sign changes from minus to plus, a second of `samples` of 16 kHz: the tone's
// frequency, if all of it is the tone.
double FrequencyOf(const std::vector<float>& samples);

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TESTS_TOOLS_DECODE_MEDIA_H_
