#include "tools/ctl/audio_input.h"

#include <utility>

#include "absl/time/clock.h"
#include "protocol/status.h"

namespace superfluid::ctl {
namespace {

constexpr linkw::BufId kAudioBuffer{1};  // a link of our own: any id is free

std::string NameOf(const std::string& file) { return file == "-" ? "standard input" : file; }

}  // namespace

AudioInput::AudioInput(Source source) : source_(std::move(source)) {}

absl::StatusOr<AudioInput> AudioInput::Open(const TranscribeOptions& options, int in_fd) {
  const AudioRoute route = RouteOf(options);
  if (route == AudioRoute::kPath) {
    return AudioInput(linkw::AudioPath{.path = PathForWorker(options.file)});
  }
  absl::StatusOr<OwnedFd> fd = OpenInput(options.file, in_fd);
  if (!fd.ok()) return fd.status();
  if (route == AudioRoute::kLive) {
    absl::StatusOr<PcmReader> reader =
        PcmReader::Open(*std::move(fd), NameOf(options.file), RawFormat(options), options.raw);
    if (!reader.ok()) return reader.status();
    return AudioInput(*std::move(reader));
  }
  absl::StatusOr<SharedBytes> bytes = ReadIntoSharedMemory(fd->get(), NameOf(options.file));
  if (!bytes.ok()) return bytes.status();
  SharedAudio audio = {.bytes = *std::move(bytes), .format = linkw::EncodedFile{}};
  if (options.raw) audio.format = RawFormat(options);
  return AudioInput(std::move(audio));
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
  const absl::StatusOr<linkw::WorkerMessage> reply = attach_replies_->Next(absl::Now());
  if (!reply.ok()) return absl::OkStatus();  // nothing came
  const auto* error = std::get_if<linkw::Error>(&*reply);
  if (error == nullptr) return absl::OkStatus();
  return linkw::MakeStatus(error->status, error->message);
}

}  // namespace superfluid::ctl
