#include "engine/audio/sound_reader.h"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/audio/audio_limits.h"
#include "engine/audio/promised_length.h"

namespace superfluid {
namespace {

// The bytes as libsndfile's virtual file, with a ration per call into the library.
class VirtualFile {
 public:
  explicit VirtualFile(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)) {}

  // Opening may look at all of an mp3 or ogg file, a few times; a block needs only a little.
  void RationForOpening() { SetRation(4 * bytes_->size() + (1 << 20), bytes_->size() + 100000); }
  void RationForBlock() { SetRation(16 << 20, 100000); }

  int64_t size() const { return bytes_->size(); }
  int64_t position() const { return position_; }
  bool exhausted() const { return exhausted_; }
  bool shrank() const { return shrank_; }
  ByteSource& bytes() { return *bytes_; }

  size_t Peek(int64_t offset, void* to, size_t count) { return bytes_->ReadAt(offset, to, count); }

  static SF_VIRTUAL_IO Callbacks() {
    SF_VIRTUAL_IO io = {};
    io.get_filelen = [](void* self) -> sf_count_t { return From(self)->size(); };
    io.seek = [](sf_count_t offset, int whence, void* self) {
      return From(self)->Seek(offset, whence);
    };
    io.read = [](void* to, sf_count_t count, void* self) { return From(self)->Read(to, count); };
    io.write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; };
    io.tell = [](void* self) -> sf_count_t { return From(self)->position_; };
    return io;
  }

 private:
  static VirtualFile* From(void* self) { return static_cast<VirtualFile*>(self); }

  void SetRation(int64_t bytes, int64_t calls) {
    bytes_left_ = bytes;
    calls_left_ = calls;
  }

  sf_count_t Seek(sf_count_t offset, int whence) {
    sf_count_t base = 0;
    if (whence == SEEK_CUR) base = position_;
    if (whence == SEEK_END) base = size();
    sf_count_t target = 0;
    const bool valid = !__builtin_add_overflow(base, offset, &target) && target >= 0;
    if (valid) position_ = target;
    return valid ? position_ : -1;
  }

  sf_count_t Read(void* to, sf_count_t count) {
    if (count <= 0 || position_ >= size()) return 0;
    count = std::min(count, size() - position_);
    bytes_left_ -= count;
    if (bytes_left_ < 0 || --calls_left_ < 0) {
      exhausted_ = true;
      return 0;
    }
    const size_t read = bytes_->ReadAt(position_, to, static_cast<size_t>(count));
    position_ += static_cast<sf_count_t>(read);
    if (read < static_cast<size_t>(count)) shrank_ = true;
    return static_cast<sf_count_t>(read);
  }

  std::unique_ptr<ByteSource> bytes_;
  sf_count_t position_ = 0;
  int64_t bytes_left_ = 0;
  int64_t calls_left_ = 0;
  bool exhausted_ = false;
  bool shrank_ = false;  // fewer bytes came than the source has
};

// A wav that tells the library, which knows such files, that its writer was killed: 8 as the length
// of all, 0 as that of the samples, which then reach to the end.
class UnfinishedWav : public ByteSource {
 public:
  // `length_at`: where the length of the samples is.
  UnfinishedWav(std::unique_ptr<ByteSource> bytes, int64_t length_at)
      : bytes_(std::move(bytes)), length_at_(length_at) {
    char first = 0;
    bytes_->ReadAt(3, &first, 1);
    const bool big_endian = first == 'X';
    all_ = big_endian ? std::array<char, 4>{0, 0, 0, 8} : std::array<char, 4>{8, 0, 0, 0};
  }

  int64_t size() const override { return bytes_->size(); }

  size_t ReadAt(int64_t offset, void* to, size_t count) override {
    const size_t read = bytes_->ReadAt(offset, to, count);
    const absl::Span<char> there(static_cast<char*>(to), read);
    Overwrite(4, all_, offset, there);
    Overwrite(length_at_, {}, offset, there);
    return read;
  }

 private:
  // Puts `with`, which belongs at `at`, into `there`, which was read from `offset`.
  static void Overwrite(int64_t at, const std::array<char, 4>& with, int64_t offset,
                        absl::Span<char> there) {
    for (size_t i = 0; i < with.size(); ++i) {
      const int64_t index = at + static_cast<int64_t>(i) - offset;
      if (index >= 0 && index < static_cast<int64_t>(there.size())) {
        there[static_cast<size_t>(index)] = with[i];
      }
    }
  }

  std::unique_ptr<ByteSource> bytes_;
  int64_t length_at_;
  std::array<char, 4> all_ = {};
};

struct SoundClose {
  void operator()(SNDFILE* sound) const { sf_close(sound); }
};

class LibraryReader : public SoundReader {
 public:
  LibraryReader(std::unique_ptr<VirtualFile> file, std::unique_ptr<SNDFILE, SoundClose> sound,
                const SF_INFO& info)
      : file_(std::move(file)),
        sound_(std::move(sound)),
        info_(info),
        promised_(Promise(file_->bytes(), info)) {}

  int rate_hz() const override { return info_.samplerate; }
  int channels() const override { return info_.channels; }
  int64_t position() const override { return file_->position(); }

  std::optional<int64_t> total_frames() const override {
    if (info_.frames < 0 || info_.frames == SF_COUNT_MAX) return std::nullopt;
    return info_.frames;
  }

  absl::StatusOr<size_t> ReadFrames(absl::Span<float> out) override {
    file_->RationForBlock();
    const auto wanted = static_cast<sf_count_t>(out.size() / static_cast<size_t>(channels()));
    const sf_count_t frames = sf_readf_float(sound_.get(), out.data(), wanted);
    if (frames > 0) {
      frames_read_ += frames;
      return static_cast<size_t>(std::min(frames, wanted));
    }
    return WhyItEnds();
  }

 private:
  // The formats other than flac are decoded as if what is there were all: see promised_length.h.
  static PromisedLength Promise(ByteSource& bytes, const SF_INFO& info) {
    if (info.frames < 0 || info.frames == SF_COUNT_MAX) {
      return ReadPromisedLength(bytes, 0, info.samplerate);
    }
    if ((info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC) return {.frames = info.frames};
    return ReadPromisedLength(bytes, info.frames, info.samplerate);
  }

  // 0, or what is wrong, where no more frames come.
  absl::StatusOr<size_t> WhyItEnds() {
    const std::string decoded = Seconds(frames_read_);
    const int64_t rounding = rate_hz() / 20;  // promises are not exact
    if (promised_.frames.has_value() && frames_read_ + promised_.slack_frames < *promised_.frames) {
      return absl::InvalidArgumentError(absl::StrCat("the data are damaged or cut short: ", decoded,
                                                     " of ", Seconds(*promised_.frames + rounding),
                                                     " could be decoded"));
    }
    if (file_->shrank()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the data are cut short: ", decoded, " could be decoded"));
    }
    if (file_->exhausted() || sf_error(sound_.get()) != SF_ERR_NO_ERROR) {
      return absl::InvalidArgumentError(
          absl::StrCat("the data are damaged: ", decoded, " could be decoded"));
    }
    return 0;
  }

  std::string Seconds(int64_t frames) const {
    const int64_t tenths = frames * 10 / rate_hz();
    return absl::StrCat(static_cast<double>(tenths) / 10.0, " s");
  }

  std::unique_ptr<VirtualFile> file_;  // outlives sound_
  std::unique_ptr<SNDFILE, SoundClose> sound_;
  SF_INFO info_;
  PromisedLength promised_;
  int64_t frames_read_ = 0;
};

// Why libsndfile refused the file, for people. (Its own last error is global, hence not usable from
// several threads, and often says only "internal error".)
absl::Status ExplainRefusal(VirtualFile& file) {
  std::array<char, 64> head = {};
  const std::string_view start(head.data(), file.Peek(0, head.data(), head.size()));
  struct Magic {
    size_t offset;
    std::string_view bytes;
    std::string_view format;
  };
  static constexpr Magic kMagics[] = {
      {8, "WAVE", "wav"},  {0, "fLaC", "flac"}, {0, "OggS", "ogg"}, {0, "ID3", "mp3"},
      {8, "AIFF", "aiff"}, {8, "AIFC", "aiff"}, {0, ".snd", "au"},  {0, "caff", "caf"},
      {0, "riff.", "w64"}, {4, "ftyp", "mp4"},
  };
  for (const Magic& magic : kMagics) {
    if (start.size() < magic.offset || !start.substr(magic.offset).starts_with(magic.bytes)) {
      continue;
    }
    if (magic.format == "mp4") return absl::InvalidArgumentError("mp4 files are not supported");
    if (magic.format == "wav" && start.size() <= 44) {
      return absl::InvalidArgumentError("there is a wav header, but it holds no audio");
    }
    return absl::InvalidArgumentError(absl::StrCat("it looks like a ", std::string(magic.format),
                                                   " file, but its header is damaged, says "
                                                   "something impossible (such as a sample rate "
                                                   "of 0) or is cut short"));
  }
  return absl::InvalidArgumentError("it is not audio in a format that is known");
}

}  // namespace

absl::StatusOr<std::unique_ptr<SoundReader>> OpenSoundReader(std::unique_ptr<ByteSource> bytes) {
  if (bytes->size() == 0) return absl::InvalidArgumentError("it is empty");
  if (const std::optional<int64_t> length_at = FindUnderstatedLength(*bytes)) {
    bytes = std::make_unique<UnfinishedWav>(std::move(bytes), *length_at);
  }
  auto file = std::make_unique<VirtualFile>(std::move(bytes));
  file->RationForOpening();
  SF_VIRTUAL_IO io = VirtualFile::Callbacks();
  SF_INFO info = {};
  std::unique_ptr<SNDFILE, SoundClose> sound(sf_open_virtual(&io, SFM_READ, &info, file.get()));
  if (sound == nullptr) return ExplainRefusal(*file);
  if (info.channels < 1 || info.channels > kMaxAudioChannels) {
    return absl::InvalidArgumentError(
        absl::StrCat(info.channels, " audio channels are not supported"));
  }
  return std::make_unique<LibraryReader>(std::move(file), std::move(sound), info);
}

}  // namespace superfluid
