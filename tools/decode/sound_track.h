#ifndef SUPERFLUID_TOOLS_DECODE_SOUND_TRACK_H_
#define SUPERFLUID_TOOLS_DECODE_SOUND_TRACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/decode/av_error.h"
#include "tools/decode/av_input.h"

struct AVCodecContext;
struct AVFormatContext;
struct AVFrame;
struct AVPacket;

namespace superfluid::decode {

// The sound of a recording: the best audio stream of a container, decoded frame by frame. Only
// containers and codecs of allowed_formats.h are touched, and nothing but `input` is opened.
// Threads: one, and none is started.
class SoundTrack {
 public:
  // Where a recording that cannot be opened stands: `error` is set.
  struct Opened {
    std::unique_ptr<SoundTrack> track;
    DecodeError error;
  };
  // `input` must outlive the track.
  static Opened Open(AvInput& input);
  ~SoundTrack();
  SoundTrack(const SoundTrack&) = delete;
  SoundTrack& operator=(const SoundTrack&) = delete;

  // The next frame, valid until the next call; null at the end, or when `error()` is set. A damaged
  // packet is left out and counted.
  const AVFrame* Next();

  // When the frame is heard, in seconds after the recording's beginning; NaN: the container does
  // not say.
  double StampOf(const AVFrame& frame) const;
  // How long the container says the sound is, where that can be trusted.
  std::optional<double> promised_seconds() const;

  const std::optional<DecodeError>& error() const { return error_; }
  uint32_t damaged_packets() const { return damaged_packets_; }
  std::string container() const;
  std::string codec() const;
  int rate_hz() const;
  int channels() const;

 private:
  struct Free {
    void operator()(AVFormatContext* format) const;
    void operator()(AVCodecContext* decoder) const;
    void operator()(AVFrame* frame) const;
    void operator()(AVPacket* packet) const;
  };

  SoundTrack();
  std::optional<DecodeError> OpenContainer(AvInput& input);
  std::optional<DecodeError> ChooseStream();
  std::optional<DecodeError> OpenDecoder();
  bool TakePacket();
  bool DecodePacket();
  void NoteError(int code);
  void IgnoreOtherStreams();

  std::unique_ptr<AVFormatContext, Free> format_;
  std::unique_ptr<AVCodecContext, Free> decoder_;
  std::unique_ptr<AVPacket, Free> packet_;
  std::unique_ptr<AVFrame, Free> frame_;
  int stream_ = -1;
  unsigned streams_seen_ = 0;
  bool flushed_ = false;  // the decoder knows that no packet follows
  bool at_end_ = false;
  uint32_t damaged_packets_ = 0;
  std::optional<DecodeError> error_;
};

}  // namespace superfluid::decode

#endif  // SUPERFLUID_TOOLS_DECODE_SOUND_TRACK_H_
