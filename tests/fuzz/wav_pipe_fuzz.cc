// What comes through a pipe into `superfluidctl transcribe -`: a WAV stream or raw samples.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "shm/owned_fd.h"
#include "tests/fuzz/target.h"
#include "tools/ctl/speech/pcm_reader.h"

namespace superfluid::fuzz {
namespace {

// A descriptor that gives these bytes. The reader only reads forward, as of a pipe.
OwnedFd Stream(std::string_view bytes) {
  OwnedFd fd(memfd_create("wav_pipe", MFD_CLOEXEC));
  Require(fd.get() >= 0);
  Require(write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  Require(lseek(fd.get(), 0, SEEK_SET) == 0);
  return fd;
}

void ReadAll(std::string_view bytes, ctl::PcmKind kind) {
  const linkw::PcmFormat raw = {.sample_rate_hz = 16000, .channels = 1};
  auto reader = ctl::PcmReader::Open(Stream(bytes), "fuzzed", raw, kind);
  if (!reader.ok()) {
    Require(!reader.status().message().empty());
    return;
  }
  Require(reader->bytes_per_second() > 0);
  size_t total = 0;
  while (true) {
    const auto samples = reader->Read(4096);
    if (!samples.ok() || samples->empty()) return;
    Require(samples->size() <= 4096);
    total += samples->size();
    Require(total <= bytes.size());  // nothing is made up
  }
}

}  // namespace

void FuzzOne(std::string_view bytes) {
  ReadAll(bytes, ctl::PcmKind::kWavOrRaw);
  ReadAll(bytes, ctl::PcmKind::kWav);
}

}  // namespace superfluid::fuzz
