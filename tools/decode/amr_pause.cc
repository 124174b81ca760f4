#include "tools/decode/amr_pause.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
}

namespace superfluid::decode {
namespace {

constexpr int kFramesPerSecond = 50;
constexpr int kLastSpeechNarrow = 7;  // the types of frames, from the first byte of each
constexpr int kLastSpeechWide = 8;

int FrameType(const AVPacket& packet) { return (packet.data[0] >> 3) & 0xF; }

}  // namespace

bool IsAmrPause(const AVCodecContext& decoder, const AVPacket& packet) {
  if (packet.size < 1) return false;
  if (decoder.codec_id == AV_CODEC_ID_AMR_NB) return FrameType(packet) > kLastSpeechNarrow;
  if (decoder.codec_id == AV_CODEC_ID_AMR_WB) return FrameType(packet) > kLastSpeechWide;
  return false;
}

int MakeAmrPause(const AVCodecContext& decoder, const AVPacket& packet, AVFrame* frame) {
  av_frame_unref(frame);
  frame->format = decoder.sample_fmt;
  frame->sample_rate = decoder.sample_rate;
  frame->nb_samples = decoder.sample_rate / kFramesPerSecond;
  frame->best_effort_timestamp = packet.pts;
  int rc = av_channel_layout_copy(&frame->ch_layout, &decoder.ch_layout);
  if (rc >= 0) rc = av_frame_get_buffer(frame, 0);
  if (rc < 0) return rc;
  return av_samples_set_silence(frame->extended_data, 0, frame->nb_samples,
                                frame->ch_layout.nb_channels, decoder.sample_fmt);
}

}  // namespace superfluid::decode
