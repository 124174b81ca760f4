#include "tools/ctl/speech/pcm_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/ctl/speech/audio_kind.h"

namespace superfluid::ctl {
namespace {

constexpr size_t kChunkHeaderBytes = 8;
constexpr size_t kFormatBytes = 16;
constexpr size_t kExtensibleBytes = 40;
constexpr size_t kSubformatAt = 24;
constexpr uint32_t kMaxFormatChunk = 1024;
constexpr uint16_t kFormatPcm = 1;
constexpr uint16_t kFormatFloat = 3;
constexpr uint16_t kFormatExtensible = 0xFFFE;
// What programs write that stream to a pipe and do not know the length yet.
constexpr uint32_t kUnknownLength = 0xFFFFFFFF;
constexpr size_t kSkipBytes = 4096;
constexpr size_t kFirstBytes = 64;
constexpr size_t kMaxBegin = size_t{1} << 20;  // of a header that is kept

// What a chunk takes up: an odd one has a byte behind it.
uint64_t Padded(uint32_t length) { return uint64_t{length} + length % 2; }

uint32_t U32(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at,
              sizeof(value));  // little-endian hosts only, as all of ours
  return value;
}

uint16_t U16(const std::string& bytes, size_t at) {
  uint16_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// "16-bit mu-law", from the two fields of a WAV header.
std::string SampleKindText(uint16_t format, uint16_t bits) {
  const std::string size = absl::StrCat(bits, "-bit ");
  switch (format) {
    case kFormatPcm:
      return absl::StrCat(size, "integer");
    case kFormatFloat:
      return absl::StrCat(size, "float");
    case 2:
    case 0x11:
      return absl::StrCat(size, "ADPCM");
    case 6:
      return absl::StrCat(size, "A-law");
    case 7:
      return absl::StrCat(size, "mu-law");
    case 0x55:
      return "MP3";
    default:
      return absl::StrCat(size, "(kind ", format, ")");
  }
}

size_t SampleBytes(linkw::SampleFormat format) {
  return format == linkw::SampleFormat::kF32 ? sizeof(float) : sizeof(int16_t);
}

// Waits until `fd` has something to say. False: `stop_fd` had first.
bool WaitForInput(int fd, int stop_fd) {
  std::array<pollfd, 2> fds = {pollfd{.fd = fd, .events = POLLIN, .revents = 0},
                               pollfd{.fd = stop_fd, .events = POLLIN, .revents = 0}};
  while (poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
  }
  return fds[1].revents == 0;
}

}  // namespace

PcmReader::PcmReader(OwnedFd fd, std::string name, const linkw::PcmFormat& raw)
    : fd_(std::move(fd)), name_(std::move(name)), format_(raw) {}

absl::StatusOr<PcmReader> PcmReader::Open(OwnedFd fd, std::string name, const linkw::PcmFormat& raw,
                                          PcmKind kind) {
  BegunFile begun;
  return Open(std::move(fd), std::move(name), raw, kind, &begun);
}

absl::StatusOr<PcmReader> PcmReader::Open(OwnedFd fd, std::string name, const linkw::PcmFormat& raw,
                                          PcmKind kind, BegunFile* begun) {
  PcmReader reader(std::move(fd), std::move(name), raw);
  absl::Status status;
  if (kind != PcmKind::kRaw) status = reader.ReadBeginning(kind);
  if (absl::IsUnimplemented(status) && reader.begin_.size() <= kMaxBegin) {
    *begun = {.fd = std::move(reader.fd_), .begin = std::move(reader.begin_)};
  }
  if (!status.ok()) return status;
  reader.opening_ = false;
  reader.begin_.clear();
  return reader;
}

// The first samples too, to find out before anything is sent that there are none.
absl::Status PcmReader::ReadBeginning(PcmKind kind) {
  absl::StatusOr<std::string> begin = ReadExactly(kAudioKindBytes);
  if (!begin.ok()) return begin.status();
  if (begin->empty()) return absl::InvalidArgumentError(absl::StrCat(name_, " is empty"));
  if (!BeginsAsWav(*begin)) {
    const std::string recording = RecordingKind(*begin);
    if (!recording.empty()) return OfAnotherKind(absl::StrCat("it is ", recording));
    if (kind == PcmKind::kWav) return OfAnotherKind("it is no WAV file (raw samples need --raw)");
    pending_ = *std::move(begin);
    return absl::OkStatus();
  }
  if (absl::Status status = ReadWavHeader(); !status.ok()) return status;
  absl::StatusOr<std::string> samples = ReadSamples(kFirstBytes, -1);
  if (!samples.ok()) return samples.status();
  if (samples->empty()) return Bad("it has no samples");
  pending_ = *std::move(samples);
  return absl::OkStatus();
}

uint64_t PcmReader::bytes_per_second() const {
  return uint64_t{format_.sample_rate_hz} * format_.channels * SampleBytes(format_.sample_format);
}

absl::StatusOr<std::string> PcmReader::Read(size_t max_bytes, int stop_fd) {
  if (!pending_.empty()) {
    any_samples_ = true;
    std::string first = pending_.substr(0, max_bytes);
    pending_.erase(0, first.size());
    return first;
  }
  absl::StatusOr<std::string> bytes = ReadSamples(max_bytes, stop_fd);
  if (!bytes.ok()) return bytes;
  if (bytes->empty() && end_check_ != nullptr) {
    if (absl::Status status = std::exchange(end_check_, nullptr)(); !status.ok()) return status;
  }
  if (bytes->empty() && !any_samples_) {
    return absl::InvalidArgumentError(absl::StrCat(name_, " is empty"));
  }
  any_samples_ = true;
  return bytes;
}

absl::StatusOr<std::string> PcmReader::ReadSamples(size_t max_bytes, int stop_fd) {
  if (bytes_left_.has_value()) max_bytes = std::min<uint64_t>(max_bytes, *bytes_left_);
  if (max_bytes == 0) return std::string();
  absl::StatusOr<std::string> bytes = ReadFile(max_bytes, stop_fd);
  if (bytes.ok() && bytes_left_.has_value()) *bytes_left_ -= bytes->size();
  return bytes;
}

absl::StatusOr<std::string> PcmReader::ReadFile(size_t max_bytes, int stop_fd) {
  std::string bytes(max_bytes, '\0');
  while (true) {
    if (!WaitForInput(fd_.get(), stop_fd)) return absl::CancelledError("stopped");
    const ssize_t got = read(fd_.get(), bytes.data(), bytes.size());
    if (got >= 0) {
      bytes.resize(static_cast<size_t>(got));
      if (opening_ && begin_.size() <= kMaxBegin) begin_ += bytes;
      return bytes;
    }
    if (errno == EINTR || errno == EAGAIN) continue;
    return absl::InternalError(
        absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name_)).message());
  }
}

// Less only at the end of the file.
absl::StatusOr<std::string> PcmReader::ReadExactly(size_t bytes) {
  std::string all;
  while (all.size() < bytes) {
    absl::StatusOr<std::string> part = ReadFile(bytes - all.size(), -1);
    if (!part.ok()) return part;
    if (part->empty()) break;
    all += *part;
  }
  return all;
}

absl::Status PcmReader::Skip(uint64_t bytes) {
  while (bytes > 0) {
    absl::StatusOr<std::string> part = ReadExactly(std::min<uint64_t>(bytes, kSkipBytes));
    if (!part.ok()) return part.status();
    if (part->empty()) return Bad("it ends inside its header");
    bytes -= part->size();
  }
  return absl::OkStatus();
}

// From behind "WAVE" to the first sample.
absl::Status PcmReader::ReadWavHeader() {
  bool have_format = false;
  while (true) {
    absl::StatusOr<std::string> header = ReadExactly(kChunkHeaderBytes);
    if (!header.ok()) return header.status();
    if (header->size() < kChunkHeaderBytes) return Bad("it ends inside its header");
    const std::string id = header->substr(0, 4);
    const uint32_t length = U32(*header, 4);
    if (id == "data") {
      if (!have_format) return Bad("it has samples before it says what they are");
      if (length != kUnknownLength && length != 0) bytes_left_ = length;
      return absl::OkStatus();
    }
    const bool is_format = id == "fmt ";
    have_format = have_format || is_format;
    absl::Status status = is_format ? ReadFormatChunk(length) : Skip(Padded(length));
    if (!status.ok()) return status;
  }
}

absl::Status PcmReader::ReadFormatChunk(uint32_t length) {
  if (length < kFormatBytes || length > kMaxFormatChunk) return Bad("its header is damaged");
  absl::StatusOr<std::string> chunk = ReadExactly(Padded(length));
  if (!chunk.ok()) return chunk.status();
  if (chunk->size() < Padded(length)) return Bad("it ends inside its header");
  return TakeFormatChunk(*chunk);
}

absl::Status PcmReader::TakeFormatChunk(const std::string& chunk) {
  uint16_t format = U16(chunk, 0);
  if (format == kFormatExtensible && chunk.size() >= kExtensibleBytes) {
    format = U16(chunk, kSubformatAt);
  }
  const uint16_t bits = U16(chunk, 14);
  format_.channels = U16(chunk, 2);
  format_.sample_rate_hz = U32(chunk, 4);
  if (format_.channels == 0 || format_.sample_rate_hz == 0) return Bad("its header is damaged");
  if (format == kFormatPcm && bits == 16) {
    format_.sample_format = linkw::SampleFormat::kS16;
  } else if (format == kFormatFloat && bits == 32) {
    format_.sample_format = linkw::SampleFormat::kF32;
  } else {
    return OfAnotherKind(absl::StrCat("its samples are ", SampleKindText(format, bits),
                                      ", live audio is 16-bit integer or 32-bit float"));
  }
  return absl::OkStatus();
}

absl::Status PcmReader::Bad(const std::string& what) const {
  return absl::InvalidArgumentError(absl::StrCat("cannot send ", name_, " live: ", what));
}

absl::Status PcmReader::OfAnotherKind(const std::string& what) const {
  return absl::UnimplementedError(Bad(what).message());
}

}  // namespace superfluid::ctl
