#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_PCM_READER_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_PCM_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"

namespace superfluid::ctl {

// What a reader takes for PCM.
enum class PcmKind {
  kWavOrRaw,  // what begins as no kind of recording is raw
  kWav,       // nothing but a WAV file
  kRaw,       // anything, as it is
};

// A file or a pipe that was read from its beginning on.
struct BegunFile {
  OwnedFd fd;
  std::string begin;  // what was read
};

// PCM from a file or a pipe: a WAV stream of 16-bit or float samples, or raw samples. It reads
// forward only, so a pipe will do. Threads: one at a time.
class PcmReader {
 public:
  // Takes `fd` over. Reads as far as the samples, which blocks on a pipe that is silent (kRaw:
  // reads nothing yet). Raw samples are of format `raw`. `name` is for error texts. Errors:
  // Unimplemented (a recording, but none whose samples can be sent as they are), InvalidArgument (a
  // damaged WAV file, or one without samples), Internal (it cannot be read).
  static absl::StatusOr<PcmReader> Open(OwnedFd fd, std::string name, const linkw::PcmFormat& raw,
                                        PcmKind kind = PcmKind::kWavOrRaw);

  // The same; gives back what it took over if it is a recording that cannot be sent as it is:
  // `begun` is then all of it, and otherwise has no descriptor.
  static absl::StatusOr<PcmReader> Open(OwnedFd fd, std::string name, const linkw::PcmFormat& raw,
                                        PcmKind kind, BegunFile* begun);

  // Has `check` asked when the samples have ended, once; an error of it is Read's.
  void CheckEndBy(std::function<absl::Status()> check) { end_check_ = std::move(check); }

  const linkw::PcmFormat& format() const { return format_; }
  uint64_t bytes_per_second() const;

  // The next samples, at most `max_bytes`, as soon as there are any; empty: the end. A frame may be
  // split. Errors: Cancelled (`stop_fd` became readable first; -1: none), Internal, InvalidArgument
  // (there were no samples at all), those of the check of the end.
  absl::StatusOr<std::string> Read(size_t max_bytes, int stop_fd = -1);

 private:
  PcmReader(OwnedFd fd, std::string name, const linkw::PcmFormat& raw);
  absl::Status ReadBeginning(PcmKind kind);
  absl::StatusOr<std::string> ReadSamples(size_t max_bytes, int stop_fd);
  absl::StatusOr<std::string> ReadFile(size_t max_bytes, int stop_fd);
  absl::StatusOr<std::string> ReadExactly(size_t bytes);
  absl::Status Skip(uint64_t bytes);
  absl::Status ReadWavHeader();
  absl::Status ReadFormatChunk(uint32_t length);
  absl::Status TakeFormatChunk(const std::string& chunk);
  absl::Status Bad(const std::string& what) const;
  absl::Status OfAnotherKind(const std::string& what) const;

  OwnedFd fd_;
  std::string name_;
  linkw::PcmFormat format_;
  std::function<absl::Status()> end_check_;
  bool any_samples_ = false;
  bool opening_ = true;                 // until the first sample
  std::string begin_;                   // what was read so far while opening
  std::string pending_;                 // read already, to be given first
  std::optional<uint64_t> bytes_left_;  // of a WAV stream that says how long it is
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_PCM_READER_H_
