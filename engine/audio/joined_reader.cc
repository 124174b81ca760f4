#include "engine/audio/joined_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/audio/promised_length.h"
#include "engine/audio/sound_reader.h"

namespace superfluid {
namespace {

constexpr int kMostFiles = 100'000;
constexpr int64_t kReadsAhead = int64_t{256} << 10;  // more than a library reads at once
constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr std::string_view kOggMagic("OggS\0", 5);
constexpr std::string_view kFlacMagic = "fLaC";

// A part of other bytes.
class RangeBytes : public ByteSource {
 public:
  RangeBytes(std::shared_ptr<ByteSource> bytes, int64_t begin, int64_t end)
      : bytes_(std::move(bytes)), begin_(begin), end_(end) {}

  int64_t size() const override { return end_ - begin_; }
  size_t ReadAt(int64_t offset, void* to, size_t count) override {
    const auto most = static_cast<size_t>(std::max<int64_t>(size() - offset, 0));
    return bytes_->ReadAt(begin_ + offset, to, std::min(count, most));
  }

 private:
  std::shared_ptr<ByteSource> bytes_;
  int64_t begin_;
  int64_t end_;
};

std::string Bytes(ByteSource& bytes, int64_t offset, size_t count) {
  if (offset >= bytes.size()) return {};
  std::string read(std::min(count, static_cast<size_t>(bytes.size() - offset)), '\0');
  read.resize(bytes.ReadAt(offset, read.data(), read.size()));
  return read;
}

// Where `magic` is at or behind `from`.
std::optional<int64_t> Find(ByteSource& bytes, int64_t from, std::string_view magic) {
  while (from < bytes.size()) {
    const std::string block = Bytes(bytes, from, kBlockBytes);
    if (block.size() < magic.size()) break;
    if (const size_t at = block.find(magic); at != std::string::npos) {
      return from + static_cast<int64_t>(at);
    }
    from += static_cast<int64_t>(block.size() - magic.size() + 1);
  }
  return std::nullopt;
}

// A flac begins with its magic and the header of a block of 34 bytes, the last or not.
std::optional<int64_t> FindFlac(ByteSource& bytes, int64_t from) {
  for (std::optional<int64_t> at = Find(bytes, from, kFlacMagic); at.has_value();
       at = Find(bytes, *at + 1, kFlacMagic)) {
    const std::string header = Bytes(bytes, *at + 4, 4);
    if (header.size() == 4 && (header[0] & 0x7F) == 0 &&
        std::string_view(header).substr(1) == std::string_view("\0\0\x22", 3)) {
      return at;
    }
  }
  return std::nullopt;
}

// Where the next ogg file begins: with a page that opens a stream, after pages of data (`in_data`:
// these were before `from`). Streams that are interleaved are opened together, at the start.
std::optional<int64_t> FindOgg(ByteSource& bytes, int64_t from, bool in_data) {
  constexpr size_t header_bytes = 27;
  constexpr size_t most_entries = 255;
  std::optional<int64_t> at = Find(bytes, from, kOggMagic);
  while (at.has_value()) {
    const std::string page = Bytes(bytes, *at, header_bytes + most_entries);
    if (page.size() < header_bytes) break;
    const bool opens = (static_cast<unsigned char>(page[5]) & 2U) != 0;
    if (opens && in_data) return at;
    in_data = in_data || !opens;
    const auto entries = static_cast<size_t>(static_cast<unsigned char>(page[26]));
    auto length = static_cast<int64_t>(header_bytes + entries);
    for (size_t i = header_bytes; i < std::min(header_bytes + entries, page.size()); ++i) {
      length += static_cast<unsigned char>(page[i]);
    }
    const bool follows = Bytes(bytes, *at + length, kOggMagic.size()) == kOggMagic;
    at = follows ? *at + length : Find(bytes, *at + 1, kOggMagic);
  }
  return std::nullopt;
}

class JoinedReader : public FrameReader {
 public:
  explicit JoinedReader(std::unique_ptr<ByteSource> bytes)
      : bytes_(std::move(bytes)), end_(bytes_->size()) {
    const std::string head = Bytes(*bytes_, 0, kOggMagic.size());
    is_ogg_ = head == kOggMagic;
    is_flac_ = head.starts_with(kFlacMagic);
  }

  absl::Status Open() {
    absl::StatusOr<std::unique_ptr<SoundReader>> reader =
        OpenSoundReader(std::make_unique<RangeBytes>(bytes_, begin_, end_));
    if (!reader.ok()) return reader.status();
    reader_ = *std::move(reader);
    return absl::OkStatus();
  }

  int rate_hz() const override { return reader_->rate_hz(); }
  int channels() const override { return reader_->channels(); }
  std::optional<int64_t> total_frames() const override { return reader_->total_frames(); }

  absl::StatusOr<size_t> ReadFrames(absl::Span<float> out) override {
    for (;;) {
      absl::StatusOr<size_t> frames = reader_->ReadFrames(out);
      if (frames.ok() && *frames > 0) {
        seconds_ += static_cast<double>(*frames) / rate_hz();
        return frames;
      }
      const std::optional<int64_t> next = NextFile(frames.ok());
      if (!next.has_value()) return frames.ok() ? CheckEnd() : frames;
      if (absl::Status status = OpenAt(*next); !status.ok()) return status;
    }
  }

 private:
  // Where the file after the present one begins. A decoder that runs into it may take it for
  // damage, so after an error it must be where the decoder stopped.
  std::optional<int64_t> NextFile(bool ended_well) {
    if (end_ < bytes_->size()) return ended_well ? std::optional<int64_t>(end_) : std::nullopt;
    const int64_t stopped = begin_ + reader_->position();
    const int64_t from = std::max(begin_ + 1, stopped - kReadsAhead);
    std::optional<int64_t> next;
    // Without a length the decoder goes on through the next flac by itself, if it can.
    const bool went_on = ended_well && !reader_->total_frames().has_value();
    if (is_flac_ && !went_on) next = FindFlac(*bytes_, from);
    if (is_ogg_) next = FindOgg(*bytes_, from, /*in_data=*/from > begin_ + 1);
    if (next.has_value() && !ended_well && *next > stopped) next.reset();
    return next;
  }

  absl::Status OpenAt(int64_t next) {
    begin_ = next;
    end_ = bytes_->size();
    // Its decoder looks for the end of an ogg from behind: through no more than it needs to.
    if (is_ogg_) end_ = FindOgg(*bytes_, begin_, /*in_data=*/false).value_or(end_);
    absl::Status status =
        ++files_ > kMostFiles ? absl::InvalidArgumentError("there are too many") : Open();
    if (status.ok()) return status;
    return absl::InvalidArgumentError(absl::StrCat("it is several files in a row, of which number ",
                                                   files_ + 1,
                                                   " cannot be decoded: ", status.message()));
  }

  absl::StatusOr<size_t> CheckEnd() {
    RangeBytes last(bytes_, begin_, end_);
    if (!is_ogg_ || !ReadPromisedLength(last, 0, rate_hz()).ends_early) return 0;
    const double tenths = static_cast<double>(static_cast<int64_t>(seconds_ * 10)) / 10;
    return absl::InvalidArgumentError(
        absl::StrFormat("the data are cut short: %g s could be decoded", tenths));
  }

  std::shared_ptr<ByteSource> bytes_;
  int64_t begin_ = 0;  // of the present file
  int64_t end_;
  bool is_ogg_ = false;
  bool is_flac_ = false;
  int files_ = 0;  // before the present one
  double seconds_ = 0;
  std::unique_ptr<SoundReader> reader_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FrameReader>> OpenJoinedReader(std::unique_ptr<ByteSource> bytes) {
  if (bytes->size() == 0) return absl::InvalidArgumentError("it is empty");
  auto reader = std::make_unique<JoinedReader>(std::move(bytes));
  if (absl::Status status = reader->Open(); !status.ok()) return status;
  return reader;
}

}  // namespace superfluid
