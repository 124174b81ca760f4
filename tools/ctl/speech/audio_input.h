#ifndef SUPERFLUID_TOOLS_CTL_SPEECH_AUDIO_INPUT_H_
#define SUPERFLUID_TOOLS_CTL_SPEECH_AUDIO_INPUT_H_

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/client/link_client.h"
#include "protocol/client/reply_stream.h"
#include "tools/ctl/base/file_bytes.h"
#include "tools/ctl/speech/decoded_audio.h"
#include "tools/ctl/speech/pcm_reader.h"
#include "tools/ctl/speech/transcribe_options.h"
#include "tools/ctl/state/file_stamp.h"

namespace superfluid::ctl {

// The audio of one transcription on its way to the worker. Threads: one.
class AudioInput {
 public:
  // Opens (and for AudioRoute::kInline reads) what the worker does not open itself. A recording of
  // a kind that the worker does not read is decoded, and has begun to give samples when this
  // returns. Errors: those of the local file and its decoder, to be shown.
  static absl::StatusOr<AudioInput> Open(const TranscribeOptions& options, int in_fd);

  // What is odd about it, for people; mostly empty.
  const std::string& warning() const { return warning_; }

  // What its decoder found odd about it, for people; known when its samples have been read.
  std::string note() const;

  // What became of the file since it was opened, for people: it grew, was cut, was removed ...; the
  // transcript may not be of all of it. Empty: nothing that can be seen.
  std::string Change() const;

  // What to put into the request. Passes shared memory to the worker first. Errors: the link's.
  absl::StatusOr<linkw::AudioSourceSpec> Offer(linkw::LinkClient& client);

  // What the worker had against the memory, if it said so by now; it does before its answer to a
  // request that uses the memory.
  absl::Status offer_status() const;

  // The samples to send, if the audio is live; else null.
  PcmReader* live() { return std::get_if<PcmReader>(&source_); }

 private:
  struct SharedAudio {
    SharedBytes bytes;
    std::variant<linkw::EncodedFile, linkw::PcmFormat> format;
  };

  using Source = std::variant<linkw::AudioPath, SharedAudio, PcmReader>;
  explicit AudioInput(Source source);
  static absl::StatusOr<AudioInput> OpenShared(const TranscribeOptions& options, int fd,
                                               std::string_view begin);
  static absl::StatusOr<AudioInput> OpenLive(const TranscribeOptions& options, OwnedFd fd);
  static absl::StatusOr<AudioInput> OpenFile(const TranscribeOptions& options);
  static absl::StatusOr<AudioInput> OpenAsItIs(const TranscribeOptions& options, AudioRoute route,
                                               int in_fd);
  static absl::StatusOr<AudioInput> OpenDecoded(const TranscribeOptions& options, int fd,
                                                uint64_t length);
  absl::StatusOr<linkw::AudioSourceSpec> OfferShared(linkw::LinkClient& client,
                                                     const SharedAudio& audio);

  Source source_;
  std::unique_ptr<DecodedAudio> decoded_;  // where the samples come from; null: nowhere
  std::string warning_;
  std::string watched_;  // the file whose change counts; empty: none
  FileStamp stamp_;      // of it, when it was opened
  std::unique_ptr<linkw::ReplyStream> attach_replies_;
};

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_SPEECH_AUDIO_INPUT_H_
