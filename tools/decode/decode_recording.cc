#include "tools/decode/decode_recording.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/log.h>
}

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/audio/audio_limits.h"
#include "tools/decode/av_error.h"
#include "tools/decode/av_input.h"
#include "tools/decode/frame_samples.h"
#include "tools/decode/pcm_output.h"
#include "tools/decode/sound_track.h"
#include "tools/decode/timeline.h"

namespace superfluid::decode {
namespace {

// Less is rounding, an edit list, or the encoder's delay.
constexpr double kMissingSeconds = 1;

template <size_t kBytes>
void SetText(std::array<char, kBytes>& to, const std::string& text) {
  const size_t length = std::min(text.size(), kBytes - 1);
  std::copy_n(text.begin(), length, to.begin());
  to[length] = '\0';
}

DecodeError FromStatus(const absl::Status& status) {
  DecodeOutcome outcome = DecodeOutcome::kDamaged;
  if (absl::IsOutOfRange(status)) outcome = DecodeOutcome::kTooLong;
  if (absl::IsResourceExhausted(status)) outcome = DecodeOutcome::kTooLarge;
  if (absl::IsUnavailable(status)) outcome = DecodeOutcome::kInternal;
  return {outcome, std::string(status.message())};
}

// One recording on its way through.
class Run {
 public:
  Run(SoundTrack& track, PcmOutput& output) : track_(track), output_(output) {}

  std::optional<DecodeError> ToTheEnd() {
    while (const AVFrame* frame = track_.Next()) {
      if (std::optional<DecodeError> error = Take(*frame)) return error;
    }
    if (absl::Status status = output_.Finish(); !status.ok()) return FromStatus(status);
    if (track_.error().has_value()) return track_.error();
    return CheckLength();
  }

 private:
  std::optional<DecodeError> Take(const AVFrame& frame) {
    const int channels = frame.ch_layout.nb_channels;
    if (channels < 1 || channels > kMaxAudioChannels || !InterleaveFrame(frame, samples_)) {
      return DecodeError{DecodeOutcome::kDamaged,
                         absl::StrCat("sound of ", channels, " channels is not supported")};
    }
    absl::Status status;
    const double silence = timeline_.SilenceBefore(track_.StampOf(frame), output_.seconds());
    if (silence > 0) status = output_.WriteSilence(silence);
    status.Update(output_.Write(samples_, frame.sample_rate, channels));
    if (!status.ok()) return FromStatus(status);
    return std::nullopt;
  }

  std::optional<DecodeError> CheckLength() const {
    const double heard = output_.seconds();
    if (heard == 0) {
      return DecodeError{DecodeOutcome::kDamaged, "nothing of its sound can be decoded"};
    }
    const double promised = track_.promised_seconds().value_or(0);
    if (promised - heard <= kMissingSeconds + promised / 100) return std::nullopt;
    return DecodeError{DecodeOutcome::kDamaged,
                       absl::StrFormat("it ends after %.1f s of %.1f s", heard, promised)};
  }

  SoundTrack& track_;
  PcmOutput& output_;
  Timeline timeline_;
  std::vector<float> samples_;
};

void Describe(const SoundTrack& track, DecodeReport& report) {
  SetText(report.container, track.container());
  SetText(report.codec, track.codec());
  report.rate_hz = static_cast<uint32_t>(std::max(track.rate_hz(), 0));
  report.channels = static_cast<uint32_t>(std::max(track.channels(), 0));
  report.damaged_packets = track.damaged_packets();
  if (report.damaged_packets > 0) {
    SetText(report.text,
            absl::StrCat(report.damaged_packets, " of its packets are damaged and were left out"));
  }
}

void SetError(const DecodeError& error, DecodeReport& report) {
  report.outcome = error.outcome;
  SetText(report.text, error.text);
}

}  // namespace

DecodeReport DecodeRecording(int input_fd, int pcm_fd, const DecodeLimits& limits) {
  av_log_set_level(AV_LOG_QUIET);
  DecodeReport report = {.outcome = DecodeOutcome::kDone};
  absl::StatusOr<std::unique_ptr<AvInput>> input = AvInput::Open(input_fd, limits);
  if (!input.ok()) {
    SetError(FromStatus(input.status()), report);
    return report;
  }
  SoundTrack::Opened opened = SoundTrack::Open(**input);
  if (opened.track == nullptr) {
    SetError(opened.error, report);
    return report;
  }
  PcmOutput output(pcm_fd, limits.max_seconds);
  const std::optional<DecodeError> error = Run(*opened.track, output).ToTheEnd();
  Describe(*opened.track, report);
  report.samples = output.samples();
  if (error.has_value()) SetError(*error, report);
  return report;
}

}  // namespace superfluid::decode
