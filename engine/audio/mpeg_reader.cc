#include "engine/audio/mpeg_reader.h"

#include <mpg123.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "engine/audio/promised_length.h"

namespace superfluid {
namespace {

// Junk of at most so many bytes before the first frame; behind it damage of any size is passed.
constexpr long kJunkBeforeFirstFrame = 4096;  // NOLINT(google-runtime-int): the library's type
constexpr int kMostFailures = 1000;           // in a row, of frames that cannot be decoded

// The bytes as the library's file.
class Input {
 public:
  explicit Input(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {}

  ByteSource& bytes() { return *bytes_; }
  bool shrank() const { return shrank_; }

  static mpg123_ssize_t Read(void* self, void* to, size_t count) {
    return static_cast<Input*>(self)->ReadSome(to, count);
  }
  static off_t Seek(void* self, off_t offset, int whence) {
    return static_cast<Input*>(self)->SeekTo(offset, whence);
  }

 private:
  mpg123_ssize_t ReadSome(void* to, size_t count) {
    if (position_ >= bytes_->size()) return 0;
    count = std::min(count, static_cast<size_t>(bytes_->size() - position_));
    const size_t read = bytes_->ReadAt(position_, to, count);
    position_ += static_cast<int64_t>(read);
    if (read < count) shrank_ = true;
    return static_cast<mpg123_ssize_t>(read);
  }
  off_t SeekTo(off_t offset, int whence) {
    int64_t target = offset;
    const int64_t base = whence == SEEK_CUR ? position_ : bytes_->size();
    if (whence != SEEK_SET && __builtin_add_overflow(base, int64_t{offset}, &target)) return -1;
    if (target < 0) return -1;
    return position_ = target;
  }

  std::unique_ptr<ByteSource> bytes_;
  int64_t position_ = 0;
  bool shrank_ = false;  // fewer bytes came than the source has
};

double Tenths(double seconds) {
  return static_cast<double>(static_cast<int64_t>(seconds * 10)) / 10;
}

struct HandleDelete {
  void operator()(mpg123_handle* handle) const { mpg123_delete(handle); }
};
using Handle = std::unique_ptr<mpg123_handle, HandleDelete>;

class MpegReader : public FrameReader {
 public:
  MpegReader(std::unique_ptr<Input> input, Handle handle)
      : input_(std::move(input)), handle_(std::move(handle)) {}

  // Decodes the first frame. Errors: as OpenMpegReader.
  absl::Status Start();

  int rate_hz() const override { return rate_hz_; }
  int channels() const override { return channels_; }
  std::optional<int64_t> total_frames() const override { return promised_.frames; }
  absl::StatusOr<size_t> ReadFrames(absl::Span<float> out) override;
  std::string Remark() const override;

 private:
  bool DecodeFrame();
  void NoteLostBytes();
  void TakeFormat();
  absl::StatusOr<size_t> WhyItEnds() const;
  double Seconds(int64_t frames) const { return static_cast<double>(frames) / rate_hz_; }

  std::unique_ptr<Input> input_;  // outlives handle_
  Handle handle_;
  PromisedLength promised_;
  int rate_hz_ = 0;
  int channels_ = 0;
  absl::Span<const float> decoded_;  // inside the library, until its next frame
  double seconds_ = 0;               // read
  int64_t next_frame_at_ = -1;       // where the bytes of the next frame should begin
  int damaged_places_ = 0;
  double lost_seconds_ = 0;
};

absl::Status MpegReader::Start() {
  if (!DecodeFrame() || rate_hz_ <= 0 || channels_ < 1) {
    return absl::InvalidArgumentError(
        "it looks like an mp3 file, but it is damaged or cut short: no frame of it can be decoded");
  }
  mpg123_param(handle_.get(), MPG123_RESYNC_LIMIT, -1, 0);
  promised_ = ReadPromisedLength(input_->bytes(), mpg123_length(handle_.get()), rate_hz_);
  if (promised_.frames.value_or(0) <= 0) promised_.frames.reset();
  return absl::OkStatus();
}

absl::StatusOr<size_t> MpegReader::ReadFrames(absl::Span<float> out) {
  while (decoded_.empty()) {
    if (!DecodeFrame()) return WhyItEnds();
  }
  const auto channels = static_cast<size_t>(channels_);
  const size_t frames = std::min(out.size(), decoded_.size()) / channels;
  std::copy_n(decoded_.begin(), frames * channels, out.begin());
  decoded_.remove_prefix(frames * channels);
  seconds_ += static_cast<double>(frames) / rate_hz_;
  return frames;
}

// False at the end.
bool MpegReader::DecodeFrame() {
  for (int failures = 0; failures < kMostFailures;) {
    off_t number = 0;
    unsigned char* audio = nullptr;
    size_t bytes = 0;
    const int code = mpg123_decode_frame(handle_.get(), &number, &audio, &bytes);
    if (code == MPG123_NEW_FORMAT) {
      TakeFormat();
      continue;
    }
    if (code == MPG123_DONE || code == MPG123_NEED_MORE) return false;
    if (code != MPG123_OK) {
      if (mpg123_errcode(handle_.get()) == MPG123_RESYNC_FAIL) return false;
      ++failures;
      continue;
    }
    NoteLostBytes();
    decoded_ = {reinterpret_cast<const float*>(audio), bytes / sizeof(float)};
    return true;
  }
  return false;
}

void MpegReader::TakeFormat() {
  long rate = 0;  // NOLINT(google-runtime-int): the library's type
  int encoding = 0;
  mpg123_getformat(handle_.get(), &rate, &channels_, &encoding);
  rate_hz_ = static_cast<int>(rate);
}

// What lies between two frames and is no tag was a frame once.
void MpegReader::NoteLostBytes() {
  mpg123_frameinfo frame = {};
  if (mpg123_info(handle_.get(), &frame) != MPG123_OK) return;
  const int64_t begin = mpg123_framepos(handle_.get());
  const int64_t expected = std::exchange(next_frame_at_, begin + frame.framesize);
  const int64_t lost = begin - expected;
  if (expected < 0 || lost <= 0 || frame.bitrate <= 0) return;
  std::array<char, 8> start = {};
  const size_t known = input_->bytes().ReadAt(expected, start.data(), start.size());
  const std::string_view head(start.data(), known);
  for (const std::string_view tag : {"ID3", "TAG", "APETAGEX", "LYRICS"}) {
    if (head.starts_with(tag)) return;
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) return;
  ++damaged_places_;
  lost_seconds_ += static_cast<double>(lost) * 8 / (frame.bitrate * 1000.0);
}

// 0, or what is wrong, where no more frames come.
absl::StatusOr<size_t> MpegReader::WhyItEnds() const {
  const double decoded = Tenths(seconds_);
  if (input_->shrank()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the data are cut short: %g s could be decoded", decoded));
  }
  // What was lost on the way is said in the remark.
  const double wanted = Seconds(promised_.frames.value_or(0) - promised_.slack_frames);
  if (seconds_ + 2 * lost_seconds_ + damaged_places_ * 0.1 < wanted) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the data are damaged or cut short: %g s of %g s could be decoded", decoded,
                        Tenths(Seconds(*promised_.frames + rate_hz_ / 20))));
  }
  return 0;
}

std::string MpegReader::Remark() const {
  if (damaged_places_ == 0) return {};
  return absl::StrFormat("it is damaged in %d place%s: about %.1f s of it could not be decoded",
                         damaged_places_, damaged_places_ == 1 ? "" : "s", lost_seconds_);
}

}  // namespace

bool LooksLikeMpeg(ByteSource& bytes) {
  std::array<char, 4> head = {};
  const int64_t begin = AfterId3Tags(bytes);
  if (begin + 4 > bytes.size()) return false;
  if (bytes.ReadAt(begin, head.data(), head.size()) < head.size()) return false;
  const auto byte = [&head](size_t i) { return static_cast<unsigned char>(head[i]); };
  const bool is_frame = byte(0) == 0xFF && (byte(1) & 0xE0U) == 0xE0 && (byte(1) & 0x18U) != 0x08 &&
                        (byte(1) & 0x06U) != 0 && (byte(2) & 0xF0U) != 0xF0 &&
                        (byte(2) & 0x0CU) != 0x0C;
  if (is_frame) return true;
  // Some taggers leave zeros behind their tag.
  return begin > 0 && head == std::array<char, 4>{};
}

absl::StatusOr<std::unique_ptr<FrameReader>> OpenMpegReader(std::unique_ptr<ByteSource> bytes) {
  Handle handle(mpg123_new(nullptr, nullptr));
  if (handle == nullptr) return absl::InternalError("the mp3 decoder cannot be made");
  mpg123_param(handle.get(), MPG123_ADD_FLAGS,
               MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_SKIP_ID3V2, 0);
  mpg123_param(handle.get(), MPG123_RESYNC_LIMIT, kJunkBeforeFirstFrame, 0);
  mpg123_param(handle.get(), MPG123_INDEX_SIZE, 0, 0);
  auto input = std::make_unique<Input>(std::move(bytes));
  mpg123_replace_reader_handle(handle.get(), &Input::Read, &Input::Seek, nullptr);
  if (mpg123_open_handle(handle.get(), input.get()) != MPG123_OK) {
    return absl::InvalidArgumentError("it looks like an mp3 file, but it cannot be opened");
  }
  auto reader = std::make_unique<MpegReader>(std::move(input), std::move(handle));
  if (absl::Status status = reader->Start(); !status.ok()) return status;
  return reader;
}

}  // namespace superfluid
