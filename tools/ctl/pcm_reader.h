#ifndef SUPERFLUID_TOOLS_CTL_PCM_READER_H_
#define SUPERFLUID_TOOLS_CTL_PCM_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "protocol/messages.h"
#include "shm/owned_fd.h"

namespace superfluid::ctl {

// PCM from a file or a pipe: a WAV stream of 16-bit or float samples, or raw samples. It reads
// forward only, so a pipe will do. Threads: one at a time.
class PcmReader {
 public:
  // Takes `fd` over. Reads as far as the samples, which blocks on a pipe that is silent. What does
  // not begin as a WAV file is raw, of format `raw`; with `always_raw` nothing is looked at.
  // `name` is for error texts. Errors: InvalidArgument (a WAV file of another kind, or a damaged
  // one), Internal (it cannot be read).
  static absl::StatusOr<PcmReader> Open(OwnedFd fd, std::string name, const linkw::PcmFormat& raw,
                                        bool always_raw = false);

  const linkw::PcmFormat& format() const { return format_; }
  uint64_t bytes_per_second() const;

  // The next samples, at most `max_bytes`, as soon as there are any; empty: the end. A frame may be
  // split. Errors: Cancelled (`stop_fd` became readable first; -1: none), Internal.
  absl::StatusOr<std::string> Read(size_t max_bytes, int stop_fd = -1);

 private:
  PcmReader(OwnedFd fd, std::string name, const linkw::PcmFormat& raw);
  absl::StatusOr<std::string> ReadFile(size_t max_bytes, int stop_fd);
  absl::StatusOr<std::string> ReadExactly(size_t bytes);
  absl::Status Skip(uint64_t bytes);
  absl::Status ReadWavHeader();
  absl::Status TakeFormatChunk(const std::string& chunk);
  absl::Status Bad(const std::string& what) const;

  OwnedFd fd_;
  std::string name_;
  linkw::PcmFormat format_;
  std::string pending_;                 // read already, to be given first
  std::optional<uint64_t> bytes_left_;  // of a WAV stream that says how long it is
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_PCM_READER_H_
