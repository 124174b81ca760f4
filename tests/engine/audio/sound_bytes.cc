#include "tests/engine/audio/sound_bytes.h"

#include <sndfile.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace superfluid {
namespace {

struct Buffer {
  std::string bytes;
  sf_count_t position = 0;
};

Buffer* From(void* self) { return static_cast<Buffer*>(self); }

sf_count_t Size(void* self) { return static_cast<sf_count_t>(From(self)->bytes.size()); }

sf_count_t Tell(void* self) { return From(self)->position; }

sf_count_t Seek(sf_count_t offset, int whence, void* self) {
  Buffer* buffer = From(self);
  if (whence == SEEK_CUR) offset += buffer->position;
  if (whence == SEEK_END) offset += Size(self);
  return buffer->position = offset;
}

sf_count_t Read(void* to, sf_count_t count, void* self) {
  Buffer* buffer = From(self);
  const size_t read = buffer->bytes.copy(static_cast<char*>(to), static_cast<size_t>(count),
                                         static_cast<size_t>(buffer->position));
  buffer->position += static_cast<sf_count_t>(read);
  return static_cast<sf_count_t>(read);
}

sf_count_t Write(const void* from, sf_count_t count, void* self) {
  Buffer* buffer = From(self);
  const auto end = static_cast<size_t>(buffer->position + count);
  if (buffer->bytes.size() < end) buffer->bytes.resize(end);
  buffer->bytes.replace(static_cast<size_t>(buffer->position), static_cast<size_t>(count),
                        static_cast<const char*>(from), static_cast<size_t>(count));
  buffer->position += count;
  return count;
}

void Require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "test data cannot be made: " << what << "\n";
  std::abort();
}

}  // namespace

std::vector<float> Sine(int rate_hz, int channels, double seconds, double hz) {
  const auto frames = static_cast<size_t>(std::llround(seconds * rate_hz));
  std::vector<float> samples;
  samples.reserve(frames * static_cast<size_t>(channels));
  for (size_t frame = 0; frame < frames; ++frame) {
    const double phase = 2 * M_PI * hz * static_cast<double>(frame) / rate_hz;
    samples.insert(samples.end(), static_cast<size_t>(channels),
                   static_cast<float>(0.5 * std::sin(phase)));
  }
  return samples;
}

namespace {

// `level`: of compression, as libsndfile has it; below 0 for its default.
std::string Encode(int format, int rate_hz, int channels, const std::vector<float>& samples,
                   double level) {
  Buffer buffer;
  SF_VIRTUAL_IO io = {Size, Seek, Read, Write, Tell};
  SF_INFO info = {};
  info.format = format;
  info.samplerate = rate_hz;
  info.channels = channels;
  SNDFILE* sound = sf_open_virtual(&io, SFM_WRITE, &info, &buffer);
  Require(sound != nullptr, sf_strerror(nullptr));
  if (level >= 0) {
    int mode = SF_BITRATE_MODE_CONSTANT;
    sf_command(sound, SFC_SET_BITRATE_MODE, &mode, sizeof mode);
    sf_command(sound, SFC_SET_COMPRESSION_LEVEL, &level, sizeof level);
  }
  const auto frames = static_cast<sf_count_t>(samples.size()) / channels;
  Require(sf_writef_float(sound, samples.data(), frames) == frames, sf_strerror(sound));
  sf_close(sound);
  return buffer.bytes;
}

}  // namespace

std::string EncodeSound(int format, int rate_hz, int channels, const std::vector<float>& samples) {
  return Encode(format, rate_hz, channels, samples, -1);
}

std::string EncodeMp3(int rate_hz, int channels, const std::vector<float>& samples, double level) {
  return Encode(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, rate_hz, channels, samples, level);
}

void Patch(std::string& bytes, size_t offset, const std::string& with) {
  Require(offset + with.size() <= bytes.size(), "a patch beyond the end");
  bytes.replace(offset, with.size(), with);
}

absl::Span<const std::byte> AsBytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

int FileWith(const std::string& bytes) {
  const int fd = memfd_create("sound", MFD_CLOEXEC);
  Require(fd >= 0, "memfd_create");
  Require(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
  return fd;
}

}  // namespace superfluid
