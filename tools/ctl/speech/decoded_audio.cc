#include "tools/ctl/speech/decoded_audio.h"

#include <poll.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/decode/decoder_program.h"

namespace superfluid::ctl {
namespace {

constexpr uint32_t kRateHz = 16000;

// Waits until there are samples (true) or their end.
bool HasSamples(int fd) {
  pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
  while (poll(&readable, 1, -1) < 0 && errno == EINTR) {
  }
  return (readable.revents & POLLIN) != 0;
}

}  // namespace

linkw::PcmFormat DecodedFormat() {
  return {.sample_rate_hz = kRateHz, .channels = 1, .sample_format = linkw::SampleFormat::kF32};
}

DecodedAudio::DecodedAudio(std::unique_ptr<decode::DecodeProcess> process, std::string name)
    : process_(std::move(process)), name_(std::move(name)) {}

absl::StatusOr<std::unique_ptr<DecodedAudio>> DecodedAudio::Open(int fd, uint64_t bytes,
                                                                 const std::string& name) {
  const absl::StatusOr<std::string> program = decode::FindDecoder();
  if (!program.ok()) {
    return absl::NotFoundError(absl::StrCat(name, " has to be decoded here, but ",
                                            std::string(program.status().message())));
  }
  auto process = decode::DecodeProcess::Start(*program);
  if (!process.ok()) return process.status();
  auto audio = std::unique_ptr<DecodedAudio>(new DecodedAudio(*std::move(process), name));
  if (absl::Status status = audio->process_->Begin(fd, {.input_bytes = bytes}); !status.ok()) {
    return audio->Named(status);
  }
  if (!HasSamples(audio->process_->pcm_fd())) {
    if (absl::Status status = audio->Finish(); !status.ok()) return status;
  }
  return audio;
}

absl::Status DecodedAudio::Finish() {
  const absl::StatusOr<decode::DecodeSummary> summary = process_->Finish();
  if (!summary.ok()) return Named(summary.status());
  if (!summary->note.empty()) note_ = absl::StrCat(name_, ": ", summary->note);
  return absl::OkStatus();
}

absl::Status DecodedAudio::Named(const absl::Status& status) const {
  return {status.code(),
          absl::StrCat("cannot decode ", name_, ": ", std::string(status.message()))};
}

}  // namespace superfluid::ctl
