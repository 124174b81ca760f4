#include "tools/ctl/speech/audio_input.h"

#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"
#include "tools/ctl/speech/audio_kind.h"
#include "tools/decode/foreign_recording.h"

namespace superfluid::ctl {
namespace {

constexpr linkw::BufId kAudioBuffer{1};  // a link of our own: any id is free

std::string NameOf(const std::string& file) { return file == "-" ? "standard input" : file; }

PcmKind KindOfLive(const TranscribeOptions& options) {
  if (options.raw) return PcmKind::kRaw;
  return options.file == "-" ? PcmKind::kWavOrRaw : PcmKind::kWav;
}

// What to do with a recording that cannot be sent as it is.
absl::Status WithWayOut(const absl::Status& status, const std::string& file) {
  if (!absl::IsUnimplemented(status)) return status;
  const std::string_view way_out =
      file == "-" ? "with --inline and without --live the worker decodes it itself"
                  : "without --live the worker decodes it itself";
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(status.message()), "; ", std::string(way_out)));
}

// Of a file that is said to be raw, and is not; a pipe cannot be looked at without being read.
std::string RawWarning(int fd, const std::string& name) {
  std::array<char, kAudioKindBytes> bytes = {};
  const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
  if (got <= 0) return "";
  const std::string kind = RecordingKind({bytes.data(), static_cast<size_t>(got)});
  if (kind.empty()) return "";
  return absl::StrCat(name, " looks like ", kind, ": --raw takes all of it for samples");
}

// Whether a named file is one that the worker does not read. One that cannot be opened here is the
// worker's to speak about.
bool IsToBeDecoded(const TranscribeOptions& options) {
  if (options.decode) return true;
  if (options.raw) return false;
  const absl::StatusOr<OwnedFd> fd = OpenInput(options.file, -1);
  if (!fd.ok()) return false;
  std::array<char, decode::kForeignKindBytes> bytes = {};
  const ssize_t got = pread(fd->get(), bytes.data(), bytes.size(), 0);
  return got > 0 && decode::IsForeignRecording({bytes.data(), static_cast<size_t>(got)});
}

}  // namespace

AudioInput::AudioInput(Source source) : source_(std::move(source)) {}

absl::StatusOr<AudioInput> AudioInput::Open(const TranscribeOptions& options, int in_fd) {
  AudioRoute route = RouteOf(options);
  // The worker has other descriptors than we, and opens regular files only.
  if (route == AudioRoute::kPath && IsOursAlone(options.file)) route = AudioRoute::kInline;
  const FileStamp stamp = StampOf(options.file);
  const bool named_file = options.file != "-" && stamp.regular;
  absl::StatusOr<AudioInput> input =
      named_file && IsToBeDecoded(options) ? OpenFile(options) : OpenAsItIs(options, route, in_fd);
  if (input.ok() && named_file && route != AudioRoute::kLive) {
    input->watched_ = options.file;
    input->stamp_ = stamp;
  }
  return input;
}

absl::StatusOr<AudioInput> AudioInput::OpenFile(const TranscribeOptions& options) {
  absl::StatusOr<OwnedFd> fd = OpenInput(options.file, -1);
  if (!fd.ok()) return fd.status();
  return OpenDecoded(options, fd->get(), 0);
}

absl::StatusOr<AudioInput> AudioInput::OpenAsItIs(const TranscribeOptions& options,
                                                  AudioRoute route, int in_fd) {
  if (route == AudioRoute::kPath) {
    return AudioInput(linkw::AudioPath{.path = PathForWorker(options.file)});
  }
  absl::StatusOr<OwnedFd> fd = OpenInput(options.file, in_fd);
  if (!fd.ok()) return fd.status();
  const std::string warning = options.raw ? RawWarning(fd->get(), NameOf(options.file)) : "";
  absl::StatusOr<AudioInput> input = route == AudioRoute::kLive && !options.decode
                                         ? OpenLive(options, *std::move(fd))
                                         : OpenShared(options, fd->get(), {});
  if (input.ok()) input->warning_ = warning;
  return input;
}

// Standard input that turns out to be a recording is read to its end, unless it was called live.
absl::StatusOr<AudioInput> AudioInput::OpenLive(const TranscribeOptions& options, OwnedFd fd) {
  BegunFile begun;
  absl::StatusOr<PcmReader> reader = PcmReader::Open(
      std::move(fd), NameOf(options.file), RawFormat(options), KindOfLive(options), &begun);
  if (reader.ok()) return AudioInput(*std::move(reader));
  if (options.live || !begun.fd.valid()) return WithWayOut(reader.status(), options.file);
  return OpenShared(options, begun.fd.get(), begun.begin);
}

absl::StatusOr<AudioInput> AudioInput::OpenShared(const TranscribeOptions& options, int fd,
                                                  std::string_view begin) {
  absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(fd, NameOf(options.file), begin);
  if (!bytes.ok()) return bytes.status();
  const std::string_view contents(reinterpret_cast<const char*>(bytes->segment.data()),
                                  bytes->length);
  if (options.decode || (!options.raw && decode::IsForeignRecording(contents))) {
    const absl::StatusOr<OwnedFd> copy = bytes->segment.DuplicateFd();
    if (!copy.ok()) return copy.status();
    return OpenDecoded(options, copy->get(), bytes->length);
  }
  SharedAudio audio = {.bytes = *std::move(bytes), .format = linkw::EncodedFile{}};
  if (options.raw) audio.format = RawFormat(options);
  return AudioInput(std::move(audio));
}

// As it is decoded, or, in shared memory, when it is: for the worker that is a recording like any
// other then, and not live.
absl::StatusOr<AudioInput> AudioInput::OpenDecoded(const TranscribeOptions& options, int fd,
                                                   uint64_t length) {
  const std::string name = NameOf(options.file);
  absl::StatusOr<std::unique_ptr<DecodedAudio>> decoded = DecodedAudio::Open(fd, length, name);
  if (!decoded.ok()) return decoded.status();
  OwnedFd samples = (*decoded)->TakeSamples();
  if (options.send_inline) {
    absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(samples.get(), name);
    if (!bytes.ok()) return bytes.status();
    if (absl::Status status = (*decoded)->Finish(); !status.ok()) return status;
    AudioInput input(SharedAudio{.bytes = *std::move(bytes), .format = DecodedFormat()});
    input.decoded_ = *std::move(decoded);
    return input;
  }
  absl::StatusOr<PcmReader> reader =
      PcmReader::Open(std::move(samples), name, DecodedFormat(), PcmKind::kRaw);
  if (!reader.ok()) return reader.status();
  reader->CheckEndBy([audio = decoded->get()] { return audio->Finish(); });
  AudioInput input(*std::move(reader));
  input.decoded_ = *std::move(decoded);
  return input;
}

std::string AudioInput::note() const { return decoded_ == nullptr ? "" : decoded_->note(); }

std::string AudioInput::Change() const {
  return watched_.empty() ? "" : ChangeText(watched_, stamp_, StampOf(watched_));
}

absl::StatusOr<linkw::AudioSourceSpec> AudioInput::Offer(linkw::LinkClient& client) {
  if (const auto* path = std::get_if<linkw::AudioPath>(&source_)) return *path;
  if (const auto* live = std::get_if<PcmReader>(&source_)) {
    return linkw::AudioLive{.format = live->format()};
  }
  return OfferShared(client, std::get<SharedAudio>(source_));
}

absl::StatusOr<linkw::AudioSourceSpec> AudioInput::OfferShared(linkw::LinkClient& client,
                                                               const SharedAudio& audio) {
  const SharedBytes& bytes = audio.bytes;
  absl::StatusOr<OwnedFd> fd = bytes.segment.DuplicateFd();
  if (!fd.ok()) return fd.status();
  const auto tag = static_cast<uint64_t>(kAudioBuffer);
  if (absl::Status status = client.SendFd(tag, fd->get()); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<linkw::ReplyStream>> replies =
      client.Start(linkw::BufAttach{.buf_id = kAudioBuffer, .len = bytes.segment.size()});
  if (!replies.ok()) return replies.status();
  attach_replies_ = *std::move(replies);
  return linkw::AudioBuffer{
      .buf_id = kAudioBuffer, .offset = 0, .length = bytes.length, .format = audio.format};
}

absl::Status AudioInput::offer_status() const {
  if (attach_replies_ == nullptr) return absl::OkStatus();
  const absl::StatusOr<linkw::WorkerMessage> reply = attach_replies_->Next(absl::InfinitePast());
  if (!reply.ok()) return absl::OkStatus();  // nothing came
  const auto* error = std::get_if<linkw::Error>(&*reply);
  if (error == nullptr) return absl::OkStatus();
  return linkw::MakeStatus(error->status, error->message);
}

}  // namespace superfluid::ctl
