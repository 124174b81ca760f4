#include "tools/ctl/audio_input.h"

#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/status.h"
#include "tools/ctl/audio_kind.h"

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
  const AudioRoute route = RouteOf(options);
  if (route == AudioRoute::kPath) {
    return AudioInput(linkw::AudioPath{.path = PathForWorker(options.file)});
  }
  absl::StatusOr<OwnedFd> fd = OpenInput(options.file, in_fd);
  if (!fd.ok()) return fd.status();
  std::string warning = options.raw ? RawWarning(fd->get(), NameOf(options.file)) : "";
  if (route == AudioRoute::kLive) {
    absl::StatusOr<PcmReader> reader = PcmReader::Open(*std::move(fd), NameOf(options.file),
                                                       RawFormat(options), KindOfLive(options));
    if (!reader.ok()) return WithWayOut(reader.status(), options.file);
    AudioInput live(*std::move(reader));
    live.warning_ = std::move(warning);
    return live;
  }
  absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(fd->get(), NameOf(options.file));
  if (!bytes.ok()) return bytes.status();
  SharedAudio audio = {.bytes = *std::move(bytes), .format = linkw::EncodedFile{}};
  if (options.raw) audio.format = RawFormat(options);
  AudioInput shared(std::move(audio));
  shared.warning_ = std::move(warning);
  return shared;
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
