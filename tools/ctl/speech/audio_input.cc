#include "tools/ctl/speech/audio_input.h"

#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"
#include "tools/ctl/speech/audio_kind.h"

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

}  // namespace

AudioInput::AudioInput(Source source) : source_(std::move(source)) {}

absl::StatusOr<AudioInput> AudioInput::Open(const TranscribeOptions& options, int in_fd) {
  AudioRoute route = RouteOf(options);
  // The worker has other descriptors than we, and opens regular files only.
  if (route == AudioRoute::kPath && IsOursAlone(options.file)) route = AudioRoute::kInline;
  const FileStamp stamp = StampOf(options.file);
  absl::StatusOr<AudioInput> input =
      AudioInput(linkw::AudioPath{.path = PathForWorker(options.file)});
  std::string warning;
  if (route != AudioRoute::kPath) {
    absl::StatusOr<OwnedFd> fd = OpenInput(options.file, in_fd);
    if (!fd.ok()) return fd.status();
    if (options.raw) warning = RawWarning(fd->get(), NameOf(options.file));
    input = route == AudioRoute::kLive ? OpenLive(options, *std::move(fd))
                                       : OpenShared(options, fd->get(), {});
  }
  if (!input.ok()) return input;
  input->warning_ = std::move(warning);
  if (route != AudioRoute::kLive && options.file != "-" && stamp.regular) {
    input->watched_ = options.file;
    input->stamp_ = stamp;
  }
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
  SharedAudio audio = {.bytes = *std::move(bytes), .format = linkw::EncodedFile{}};
  if (options.raw) audio.format = RawFormat(options);
  return AudioInput(std::move(audio));
}

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
