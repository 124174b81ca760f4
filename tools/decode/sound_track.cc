#include "tools/decode/sound_track.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cerrno>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "engine/audio/audio_limits.h"
#include "tools/decode/allowed_formats.h"
#include "tools/decode/amr_pause.h"

namespace superfluid::decode {
namespace {

constexpr int kMaxStreams = 128;
constexpr int kMaxFrameSamples = 1 << 20;
constexpr unsigned kProbeBytes = 1 << 20;

// Called for each file that a container names.
int RefuseToOpen(AVFormatContext* /*format*/, AVIOContext** /*context*/, const char* /*url*/,
                 int /*flags*/, AVDictionary** /*options*/) {
  return AVERROR(EPERM);
}

DecodeError NoMemory() { return ErrorOf(AVERROR(ENOMEM), ""); }

// Finds the container by its bytes; refused ones are named.
std::optional<DecodeError> Probe(AvInput& input, const AVInputFormat** format) {
  const int score = av_probe_input_buffer2(input.context(), format, "", nullptr, 0, kProbeBytes);
  if (score == AVERROR_INVALIDDATA || (score >= 0 && *format == nullptr)) {
    return DecodeError{DecodeOutcome::kUnknownFormat, "it is no recording in a known format"};
  }
  if (score < 0) return ErrorOf(score, "it cannot be read");
  if (!IsAllowedContainer((*format)->name)) {
    return DecodeError{DecodeOutcome::kRefusedFormat, RefusalText((*format)->name)};
  }
  return std::nullopt;
}

}  // namespace

void SoundTrack::Free::operator()(AVFormatContext* format) const { avformat_close_input(&format); }
void SoundTrack::Free::operator()(AVCodecContext* decoder) const { avcodec_free_context(&decoder); }
void SoundTrack::Free::operator()(AVFrame* frame) const { av_frame_free(&frame); }
void SoundTrack::Free::operator()(AVPacket* packet) const { av_packet_free(&packet); }

SoundTrack::SoundTrack() : packet_(av_packet_alloc()), frame_(av_frame_alloc()) {}
SoundTrack::~SoundTrack() = default;

SoundTrack::Opened SoundTrack::Open(AvInput& input) {
  auto track = std::unique_ptr<SoundTrack>(new SoundTrack());
  std::optional<DecodeError> error;
  if (track->packet_ == nullptr || track->frame_ == nullptr) error = NoMemory();
  if (!error.has_value()) error = track->OpenContainer(input);
  if (!error.has_value()) error = track->ChooseStream();
  if (!error.has_value()) error = track->OpenDecoder();
  if (error.has_value()) return {.track = nullptr, .error = *std::move(error)};
  return {.track = std::move(track), .error = {}};
}

std::optional<DecodeError> SoundTrack::OpenContainer(AvInput& input) {
  const AVInputFormat* container = nullptr;
  if (std::optional<DecodeError> error = Probe(input, &container)) return error;
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) return NoMemory();
  format->pb = input.context();
  format->flags |= AVFMT_FLAG_CUSTOM_IO;
  format->io_open = &RefuseToOpen;
  format->max_streams = kMaxStreams;
  format->format_whitelist = av_strdup(kAllowedContainers);
  format->codec_whitelist = av_strdup(kAllowedCodecs);
  format->protocol_whitelist = av_strdup("none");
  // Frees the context when it fails.
  int rc = avformat_open_input(&format, "", container, nullptr);
  format_.reset(format);
  if (rc >= 0) rc = avformat_find_stream_info(format, nullptr);
  if (rc >= 0) return std::nullopt;
  if (!input.seekable()) {
    return DecodeError{DecodeOutcome::kDamaged,
                       "it cannot be decoded as it comes: either it is damaged, or it has to be "
                       "there as a whole"};
  }
  return ErrorOf(rc, absl::StrCat("its header cannot be read (", container->name, ")"));
}

std::optional<DecodeError> SoundTrack::ChooseStream() {
  stream_ = av_find_best_stream(format_.get(), AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  if (stream_ < 0) return DecodeError{DecodeOutcome::kNoAudio, "it has no sound"};
  IgnoreOtherStreams();
  return std::nullopt;
}

// Streams may appear later.
void SoundTrack::IgnoreOtherStreams() {
  for (; streams_seen_ < format_->nb_streams; ++streams_seen_) {
    if (static_cast<int>(streams_seen_) == stream_) continue;
    format_->streams[streams_seen_]->discard = AVDISCARD_ALL;
  }
}

std::optional<DecodeError> SoundTrack::OpenDecoder() {
  const AVStream& stream = *format_->streams[stream_];
  const AVCodecParameters& parameters = *stream.codecpar;
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr || !IsAllowedCodec(codec->name)) {
    return DecodeError{DecodeOutcome::kRefusedCodec,
                       absl::StrCat("its sound is ", avcodec_get_name(parameters.codec_id),
                                    ", which is not decoded here")};
  }
  decoder_.reset(avcodec_alloc_context3(codec));
  if (decoder_ == nullptr) return NoMemory();
  int rc = avcodec_parameters_to_context(decoder_.get(), &parameters);
  decoder_->thread_count = 1;
  decoder_->pkt_timebase = stream.time_base;
  decoder_->max_samples = kMaxFrameSamples;
  if (rc >= 0) rc = avcodec_open2(decoder_.get(), codec, nullptr);
  if (rc >= 0) return std::nullopt;
  return ErrorOf(rc, absl::StrCat("its sound (", codec->name, ") cannot be decoded"));
}

const AVFrame* SoundTrack::Next() {
  while (!error_.has_value()) {
    const int rc = avcodec_receive_frame(decoder_.get(), frame_.get());
    if (rc >= 0 && frame_->nb_samples > 0) return frame_.get();
    if (rc == AVERROR_EOF || at_end_) return nullptr;
    if (rc >= 0) continue;
    if (rc != AVERROR(EAGAIN)) NoteError(rc);
    if (TakePacket()) return frame_.get();
  }
  return nullptr;
}

// Reads a packet for the decoder, or the end. True: it was a pause, which is in frame_ now.
bool SoundTrack::TakePacket() {
  const int rc = av_read_frame(format_.get(), packet_.get());
  IgnoreOtherStreams();
  if (rc < 0) {
    if (rc != AVERROR_EOF) NoteError(rc);
    // What the decoder holds back comes now.
    if (!flushed_ && avcodec_send_packet(decoder_.get(), nullptr) >= 0) {
      flushed_ = true;
    } else {
      at_end_ = true;
    }
    return false;
  }
  const bool pause = packet_->stream_index == stream_ && DecodePacket();
  av_packet_unref(packet_.get());
  return pause;
}

bool SoundTrack::DecodePacket() {
  const bool pause = IsAmrPause(*decoder_, *packet_);
  const int rc = pause ? MakeAmrPause(*decoder_, *packet_, frame_.get())
                       : avcodec_send_packet(decoder_.get(), packet_.get());
  if (rc < 0) NoteError(rc);
  return pause && rc >= 0;
}

// Too much of the machine ends it; damage is left out.
void SoundTrack::NoteError(int code) {
  if (code == AVERROR(ENOMEM) || code == AVERROR(EFBIG)) {
    error_ = ErrorOf(code, "");
  } else {
    ++damaged_packets_;
  }
}

double SoundTrack::StampOf(const AVFrame& frame) const {
  if (frame.best_effort_timestamp == AV_NOPTS_VALUE) return std::nan("");
  const AVRational base = format_->streams[stream_]->time_base;
  const double begin = format_->start_time == AV_NOPTS_VALUE
                           ? 0
                           : static_cast<double>(format_->start_time) / AV_TIME_BASE;
  return static_cast<double>(frame.best_effort_timestamp) * av_q2d(base) - begin;
}

std::optional<double> SoundTrack::promised_seconds() const {
  const AVStream& stream = *format_->streams[stream_];
  if (format_->duration_estimation_method != AVFMT_DURATION_FROM_STREAM) return std::nullopt;
  if (stream.duration == AV_NOPTS_VALUE || stream.duration <= 0) return std::nullopt;
  return static_cast<double>(stream.duration) * av_q2d(stream.time_base);
}

std::string SoundTrack::container() const { return format_->iformat->name; }
std::string SoundTrack::codec() const { return decoder_->codec->name; }
int SoundTrack::rate_hz() const { return decoder_->sample_rate; }
int SoundTrack::channels() const { return decoder_->ch_layout.nb_channels; }

}  // namespace superfluid::decode
